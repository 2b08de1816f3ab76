#include "flux/process/adoption.hpp"

#include "../support/io_peers.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace {

using flux::adopt;
using flux::socket_kind;
using flux::socket_origin;
using flux::take_adopted;

class Adoption : public testing::Test
{
  protected:
    // What a test has left is nobody's.
    void TearDown() override { EXPECT_TRUE(flux::all_adopted_are_taken()); }
};

/// A socket at a port of one host, or of all, as somebody else opens it.
flux::descriptor opened(int type, std::uint16_t port = 0, bool on_all_hosts = false)
{
    flux::address at = flux::loopback_address(port);
    if (on_all_hosts) {
        reinterpret_cast<sockaddr_in &>(at.storage).sin_addr.s_addr = htonl(INADDR_ANY);
    }
    flux::descriptor made(socket(AF_INET, type, 0));
    const int on = 1;
    setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    EXPECT_EQ(bind(made.get(), at.get(), at.size), 0) << strerror(errno);
    if (type == SOCK_STREAM) {
        EXPECT_EQ(listen(made.get(), 8), 0);
    }
    return made;
}

std::uint16_t port_of(const flux::descriptor &of)
{
    return flux::local_address(of).port();
}

/// What is said when this is adopted.
std::string refusal(flux::descriptor given)
{
    try {
        adopt(std::move(given), socket_origin::service_manager, "it");
    } catch (const std::invalid_argument &problem) {
        return problem.what();
    }
    return "adopted";
}

TEST_F(Adoption, AListenerIsTheAdoptedSocketWithThosePeersThatHaveComeBefore)
{
    flux::descriptor before = opened(SOCK_STREAM);
    const flux::address at = flux::local_address(before);
    const plain_peer peer(at);
    adopt(std::move(before), socket_origin::service_manager, "it");
    EXPECT_FALSE(flux::all_adopted_are_taken());
    const auto listener = flux::open_listener(at);
    ASSERT_TRUE(listener.has_value());
    flux::address from;
    EXPECT_TRUE(flux::try_accept(*listener, from).has_value());
    EXPECT_EQ(flux::try_accept(*listener, from).error(), EAGAIN) << "it does not block";
    EXPECT_NE(fcntl((*listener).get(), F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_FALSE(take_adopted(at, socket_kind::listener).has_value()) << "it is taken once";
}

TEST_F(Adoption, OnlyWhoAsksForTheKindAndThePortGetsIt)
{
    flux::descriptor before = opened(SOCK_STREAM);
    const std::uint16_t port = port_of(before);
    adopt(std::move(before), socket_origin::service_manager, "it");
    EXPECT_FALSE(take_adopted(flux::loopback_address(port), socket_kind::datagrams).has_value());
    EXPECT_FALSE(take_adopted(flux::loopback_address(static_cast<std::uint16_t>(port ^ 1)), socket_kind::listener)
                     .has_value());
    EXPECT_FALSE(take_adopted(flux::any_address(0), socket_kind::listener).has_value());
    EXPECT_FALSE(take_adopted(*flux::parse_address("127.0.0.2:" + std::to_string(port)), socket_kind::listener)
                     .has_value());
    EXPECT_TRUE(take_adopted(flux::any_address(port), socket_kind::listener).has_value()) << "it is for fewer hosts";
}

TEST_F(Adoption, WhoAsksForAllHostsGetsTheWidestFirst)
{
    flux::descriptor narrow = opened(SOCK_DGRAM);
    const std::uint16_t port = port_of(narrow);
    adopt(std::move(narrow), socket_origin::service_manager, "narrow");
    adopt(opened(SOCK_DGRAM, port, true), socket_origin::service_manager, "wide");
    const std::string number = std::to_string(port);
    const auto first = take_adopted(flux::any_address(port), socket_kind::datagrams);
    const auto second = take_adopted(flux::any_address(port), socket_kind::datagrams);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(flux::local_address(*first).text(), "0.0.0.0:" + number);
    EXPECT_EQ(flux::local_address(*second).text(), "127.0.0.1:" + number);
}

TEST_F(Adoption, LoopsShareASocketForMessages)
{
    flux::descriptor before = opened(SOCK_DGRAM);
    const flux::address at = flux::local_address(before);
    adopt(std::move(before), socket_origin::service_manager, "it");
    const auto first = flux::open_datagram_socket(at, flux::sharing::of_loops);
    const auto second = flux::open_datagram_socket(at, flux::sharing::of_loops);
    ASSERT_TRUE(first.has_value() && second.has_value());
    EXPECT_TRUE(flux::try_send_to(*first, std::as_bytes(std::span("to itself", 9)), at).has_value());
    std::array<std::byte, 32> into;
    EXPECT_EQ((*flux::try_receive_from(*second, into)).size, 9u) << "what comes comes to both";
}

TEST_F(Adoption, WhatNobodyCanReachAServerAtIsRefused)
{
    EXPECT_EQ(refusal(flux::descriptor(open("/dev/null", O_RDONLY))), "it is not a socket: pass sockets alone");
    EXPECT_EQ(refusal(flux::descriptor(socket(AF_INET, SOCK_STREAM, 0))),
              "it does not listen: a socket unit is to say Accept=no");
    EXPECT_EQ(refusal(flux::descriptor(1'000'000)), "it is not open: fewer are passed than are said to be");
    EXPECT_EQ(refusal(flux::descriptor(socket(AF_UNIX, SOCK_SEQPACKET, 0))),
              "it is a socket neither for streams nor for datagrams: pass such alone");
}

/// Sets what a service manager sets.
void pass(const std::string &process, const char *count, const char *names)
{
    setenv("LISTEN_PID", process.c_str(), 1);
    setenv("LISTEN_FDS", count, 1);
    setenv("LISTEN_FDNAMES", names, 1);
}

TEST_F(Adoption, TheServiceManagerSaysHowManyThereAre)
{
    constexpr int first = 700;
    std::vector<flux::address> all;
    for (int number = first; number < first + 2; ++number) {
        const flux::descriptor socket = opened(SOCK_STREAM);
        all.push_back(flux::local_address(socket));
        ASSERT_EQ(dup2(socket.get(), number), number);
    }
    pass(std::to_string(getpid()), "2", "web:admin");
    testing::internal::CaptureStderr();
    flux::adopt_from_service_manager(first);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "flux: adopted " + all[0].text() + ", descriptor 700 `web` of LISTEN_FDS\n" + //
                  "flux: adopted " + all[1].text() + ", descriptor 701 `admin` of LISTEN_FDS\n");
    EXPECT_EQ(std::getenv("LISTEN_FDS"), nullptr);
    EXPECT_EQ(std::getenv("LISTEN_PID"), nullptr);
    EXPECT_EQ(std::getenv("LISTEN_FDNAMES"), nullptr);
    for (const flux::address &each : all) {
        EXPECT_TRUE(take_adopted(each, socket_kind::listener).has_value());
    }
}

TEST_F(Adoption, WhatIsForAnotherProcessIsLeftAlone)
{
    for (const std::string &process : {std::to_string(getpid() + 1), std::to_string(getppid())}) {
        pass(process, "1", "");
        flux::adopt_from_service_manager();
        EXPECT_TRUE(flux::all_adopted_are_taken());
        EXPECT_EQ(std::getenv("LISTEN_FDS"), nullptr);
    }
    setenv("LISTEN_FDS", "1", 1);
    flux::adopt_from_service_manager();
    EXPECT_TRUE(flux::all_adopted_are_taken()) << "for nobody";
}

TEST_F(Adoption, NumbersThatAreNoneAreRefused)
{
    for (const char *const count : {"one", "-1", "3x", ""}) {
        pass(std::to_string(getpid()), count, "");
        EXPECT_THROW(flux::adopt_from_service_manager(), std::invalid_argument) << count;
        EXPECT_EQ(std::getenv("LISTEN_PID"), nullptr);
    }
}

TEST_F(Adoption, WhatNobodyAsksForIsNamedAndClosedIfItIsOfTheServerBefore)
{
    flux::descriptor of_manager = opened(SOCK_STREAM);
    flux::descriptor of_before = opened(SOCK_STREAM);
    const flux::address kept = flux::local_address(of_manager);
    const flux::address closed = flux::local_address(of_before);
    adopt(std::move(of_manager), socket_origin::service_manager, "the one");
    adopt(std::move(of_before), socket_origin::server_before, "the other");
    testing::internal::CaptureStderr();
    flux::settle_adopted();
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "flux: nobody here listens at " + kept.text() +
                  ", the one: take it out of the socket unit, or have the program listen there\n" +
                  "flux: nobody here listens at " + closed.text() + ", the other: it is closed\n");
    const flux::descriptor peer(socket(AF_INET, SOCK_STREAM, 0));
    EXPECT_NE(connect(peer.get(), closed.get(), closed.size), 0);
    EXPECT_TRUE(take_adopted(kept, socket_kind::listener).has_value()) << "somebody may yet";
}

TEST_F(Adoption, SocketsCanBeHandedOnAsLongAsTheyAreOpen)
{
    const std::size_t others = flux::copy_public_sockets().size();
    auto listener = flux::open_listener(flux::loopback_address(0));
    const auto messages = flux::open_datagram_socket(flux::loopback_address(0), flux::sharing::none);
    ASSERT_TRUE(listener.has_value() && messages.has_value());
    const flux::address at = flux::local_address(*listener);
    std::vector<flux::descriptor> copies = flux::copy_public_sockets();
    ASSERT_EQ(copies.size(), others + 2);
    EXPECT_EQ(flux::local_address(copies[others]).text(), at.text());
    EXPECT_EQ(flux::local_address(copies[others + 1]).text(), flux::local_address(*messages).text());
    {
        const flux::public_socket ended = *std::move(listener);
    }
    EXPECT_EQ(flux::copy_public_sockets().size(), others + 1);
    const plain_peer peer(at);
    flux::address from;
    fcntl(copies[others].get(), F_SETFL, O_NONBLOCK);
    EXPECT_TRUE(flux::try_accept(copies[others], from).has_value()) << "who has a copy accepts";
}

} // namespace
