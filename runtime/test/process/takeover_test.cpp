#include "flux/process/takeover.hpp"

#include "../support/io_peers.hpp"
#include "../support/patience.hpp"

#include <flux/io/server_io.hpp>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

/// A server's sockets, and its place among those that take over from each other.
class server
{
  public:
    server(const std::string &path, const flux::end_signals &signals) : place(path, signals, io->sockets) {}

    /// It opens what it listens at.
    auto open(const flux::address &at) const
    {
        const flux::on_server_io here(io);
        return flux::open_listener(at);
    }

    const std::shared_ptr<flux::server_io> io = std::make_shared<flux::server_io>();
    flux::takeover place;
};

/// A folder with a path for servers, and somebody who speaks as servers do.
class Takeover : public testing::Test
{
  protected:
    void SetUp() override
    {
        std::string name = (std::filesystem::temp_directory_path() / "takeover-XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder = name;
        path = folder + "/place";
    }

    void TearDown() override { std::filesystem::remove_all(folder); }

    flux::address at() const { return *flux::parse_address("unix:" + path); }

    /// Connects to whoever listens there.
    flux::descriptor connected() const
    {
        flux::descriptor made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
        EXPECT_EQ(connect(made.get(), at().get(), at().size), 0) << strerror(errno);
        return made;
    }

    /// Listens there, as another program does.
    flux::descriptor listening(int type = SOCK_SEQPACKET) const
    {
        flux::descriptor made(socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
        EXPECT_EQ(bind(made.get(), at().get(), at().size), 0) << strerror(errno);
        EXPECT_EQ(listen(made.get(), 8), 0);
        return made;
    }

    /// Why a server cannot have the place.
    std::string refusal() const
    {
        try {
            const server refused(path, signals);
        } catch (const std::runtime_error &problem) {
            return problem.what();
        }
        return "none";
    }

    const flux::end_signals signals;
    std::string folder;
    std::string path;
};

/// The beginning of what a server says, of this version.
std::string greeting(std::uint32_t version, std::uint32_t sockets)
{
    std::string bytes("flux takeover\0\0\0", 16);
    const pid_t process = 4711;
    bytes.append(reinterpret_cast<const char *>(&version), sizeof version);
    bytes.append(reinterpret_cast<const char *>(&sockets), sizeof sockets);
    bytes.append(reinterpret_cast<const char *>(&process), sizeof process);
    return bytes;
}

/// Sends a record with a socket.
void pass(const flux::descriptor &to, std::string bytes, int passed)
{
    iovec whole{bytes.data(), bytes.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof passed)> control{};
    msghdr message{};
    message.msg_iov = &whole;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr &header = *CMSG_FIRSTHDR(&message);
    header.cmsg_level = SOL_SOCKET;
    header.cmsg_type = SCM_RIGHTS;
    header.cmsg_len = CMSG_LEN(sizeof passed);
    std::memcpy(CMSG_DATA(&header), &passed, sizeof passed);
    EXPECT_EQ(sendmsg(to.get(), &message, MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size())) << strerror(errno);
}

/// The next one that connects.
flux::descriptor accepted(const flux::descriptor &by)
{
    return flux::descriptor(accept4(by.get(), nullptr, nullptr, SOCK_CLOEXEC));
}

/// How a server's time in its place ends.
std::future<flux::end_reason> end_of(server &has)
{
    return std::async(std::launch::async, [&has] { return has.place.wait(); });
}

TEST_F(Takeover, TheSocketsOfAServerGoToTheNext)
{
    std::optional<server> first(std::in_place, path, signals);
    auto listener = first->open(flux::loopback_address(0));
    ASSERT_TRUE(listener.has_value());
    const flux::address known = flux::local_address(*listener);
    first->place.begun();
    auto first_end = end_of(*first);
    server second(path, signals);
    const auto adopted = second.open(known);
    ASSERT_TRUE(adopted.has_value());
    dawdle(std::chrono::milliseconds(20));
    EXPECT_FALSE(is_ready(first_end)) << "the second has not begun";
    second.place.begun();
    const flux::end_reason reason = first_end.get();
    EXPECT_EQ(reason.signal, 0);
    EXPECT_EQ(reason.successor, getpid());
    {
        const flux::public_socket closed = *std::move(listener);
    }
    first.reset();
    const plain_peer peer(known);
    flux::address from;
    EXPECT_TRUE(flux::try_accept(*adopted, from).has_value());

    auto second_end = end_of(second);
    server third(path, signals);
    const auto again = third.open(known);
    EXPECT_TRUE(again.has_value());
    third.place.begun();
    EXPECT_EQ(second_end.get().successor, getpid()) << "the path went with the place";
}

TEST_F(Takeover, MoreSocketsGoThanOneRecordPasses)
{
    constexpr std::size_t many = 150;
    server first(path, signals);
    std::vector<flux::public_socket> all;
    for (std::size_t number = 0; number < many; ++number) {
        const flux::on_server_io here(first.io);
        auto opened = flux::open_datagram_socket(flux::loopback_address(0), flux::sharing::none);
        ASSERT_TRUE(opened.has_value());
        all.push_back(*std::move(opened));
    }
    auto first_end = end_of(first);
    server second(path, signals);
    for (const flux::public_socket &each : all) {
        EXPECT_TRUE(second.io->sockets.take_adopted(flux::local_address(each), flux::socket_kind::datagrams));
    }
    second.place.begun();
    EXPECT_EQ(first_end.get().signal, 0);
}

TEST_F(Takeover, AServerGoesOnWhereTheOneThatWasToFollowEnds)
{
    server first(path, signals);
    auto first_end = end_of(first);
    for (int round = 0; round < 3; ++round) {
        const flux::descriptor ends = connected();
        char byte = 0;
        EXPECT_EQ(recv(ends.get(), &byte, 1, 0), 1) << "it is greeted";
        // Whatever else it says is not that it has begun.
        EXPECT_EQ(::send(ends.get(), "x", 1, MSG_NOSIGNAL), 1);
    }
    server second(path, signals);
    second.place.begun();
    EXPECT_EQ(first_end.get().signal, 0);
}

TEST_F(Takeover, APathThatACrashedServerHasLeftIsTaken)
{
    listening();
    EXPECT_TRUE(std::filesystem::is_socket(path));
    server next(path, signals);
    auto end = end_of(next);
    server last(path, signals);
    last.place.begun();
    EXPECT_EQ(end.get().signal, 0) << "it listens there";
}

TEST_F(Takeover, AServerThatEndsBeforeItHasPassedAnythingLeavesItsPlaceEmpty)
{
    std::optional<flux::descriptor> ending = listening();
    auto next = std::async(std::launch::async, [this] { return refusal(); });
    {
        const flux::descriptor unanswered = accepted(*ending);
        ending.reset();
    }
    EXPECT_EQ(next.get(), "none");
}

TEST_F(Takeover, WhatAServerHasPassedBeforeItEndsIsAdopted)
{
    std::optional<flux::descriptor> ending = listening();
    auto passed = flux::open_listener(flux::loopback_address(0));
    ASSERT_TRUE(passed.has_value());
    const flux::address known = flux::local_address(*passed);
    auto next = std::async(std::launch::async, [this] { return std::make_unique<server>(path, signals); });
    {
        const flux::descriptor to = accepted(*ending);
        pass(to, greeting(1, 2), ending->get());
        pass(to, "s", (*passed).get());
        ending.reset();
    }
    const std::unique_ptr<server> taken = next.get();
    // It has the place and the socket, and hands both on.
    const auto kept = taken->open(known);
    EXPECT_TRUE(kept.has_value());
    taken->place.begun();
    auto end = end_of(*taken);
    server last(path, signals);
    EXPECT_TRUE(last.io->sockets.take_adopted(known, flux::socket_kind::listener).has_value());
    last.place.begun();
    EXPECT_EQ(end.get().signal, 0);
}

TEST_F(Takeover, OtherVersionsAndOtherProgramsAreRefused)
{
    flux::descriptor other = listening();
    auto next = std::async(std::launch::async, [this] { return refusal(); });
    pass(accepted(other), greeting(2, 0), other.get());
    EXPECT_EQ(next.get(), "the server at " + path + " hands over in another way (version 2, not 1): end it first");
    next = std::async(std::launch::async, [this] { return refusal(); });
    pass(accepted(other), "220 mail.example.org", other.get());
    EXPECT_EQ(next.get(), "what listens at " + path + " is not a server to take over from");
    other = flux::descriptor();
    unlink(path.c_str());
    const flux::descriptor for_streams = listening(SOCK_STREAM);
    EXPECT_EQ(refusal(), "what listens at " + path + " is not a server to take over from");
}

TEST_F(Takeover, APathThatIsSomethingElseStaysAsItIs)
{
    std::ofstream(path) << "precious";
    EXPECT_EQ(refusal(), path + " is there, and is not a socket: name another path");
    EXPECT_EQ(std::filesystem::file_size(path), 8u);
    path = folder + "/none/place";
    EXPECT_EQ(refusal(), folder + "/none/: No such file or directory");
}

TEST_F(Takeover, AServerThatIsAskedToEndGivesUpThePath)
{
    server ends(path, signals);
    auto end = end_of(ends);
    std::raise(SIGTERM);
    EXPECT_EQ(end.get().signal, SIGTERM);
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(Takeover, OnlyTheSameUserTakesOver)
{
    constexpr uid_t nobody = 65534;
    if (geteuid() != 0) {
        GTEST_SKIP() << "nobody else can be had";
    }
    server first(path, signals);
    auto first_end = end_of(first);
    std::filesystem::permissions(folder, std::filesystem::perms::all);
    std::filesystem::permissions(path, std::filesystem::perms::all);
    const pid_t process = fork();
    if (process == 0) {
        _exit(seteuid(nobody) == 0 && refusal().find("is of user 0: only the same user") != std::string::npos ? 0 : 1);
    }
    int status = -1;
    EXPECT_EQ(waitpid(process, &status, 0), process);
    EXPECT_EQ(status, 0);
    server second(path, signals);
    second.place.begun();
    EXPECT_EQ(first_end.get().signal, 0) << "it goes on until its own user takes over";
}

} // namespace
