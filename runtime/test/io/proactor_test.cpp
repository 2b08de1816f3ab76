#include "flux/io/proactor.hpp"

#include "../support/io_peers.hpp"
#include "../support/io_world.hpp"
#include "../support/patience.hpp"

#include <flux/io/receive_buffers.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <optional>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <system_error>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

/// Lets the loop turn for a while.
void rest(flux::io &through)
{
    EXPECT_EQ(through.make_arrivals()->next(in(20ms)).error(), ETIMEDOUT);
}

/// Peers that have sent much to streams that nobody reads: they hold all buffers.
class hoard
{
  public:
    explicit hoard(flux::io &through) : server_(through)
    {
        // By what a stream may hold, and some, so that there are none left.
        constexpr int many = flux::receive_buffers::count / 8 + 8;
        for (int number = 0; number < many; ++number) {
            plain_peer peer(server_.listener->local());
            streams_.push_back(server_.accept());
            EXPECT_EQ(receive(*streams_.back(), 1, flux::moment::min()), "error ETIMEDOUT");
            fcntl(peer.socket.get(), F_SETFL, O_NONBLOCK);
            peers_.push_back(std::move(peer));
            sent_.push_back(0);
        }
        // As much as the kernel takes, and more when the loop has received some of it.
        for (int round = 0; round < 3; ++round) {
            for (std::size_t each = 0; each < peers_.size(); ++each) {
                send_more(each);
            }
            rest(through);
        }
        EXPECT_GT(*std::min_element(sent_.begin(), sent_.end()), 8 * flux::receive_buffers::size);
    }

    /// Reads it all, with nothing lost.
    void read() const
    {
        for (std::size_t each = 0; each < streams_.size(); ++each) {
            EXPECT_TRUE(receive_all(*streams_[each], sent_[each]) == bytes_.substr(0, sent_[each]));
        }
    }

  private:
    void send_more(std::size_t each)
    {
        const std::string_view left = std::string_view(bytes_).substr(sent_[each]);
        const ssize_t sent = write(peers_[each].socket.get(), left.data(), left.size());
        sent_[each] += static_cast<std::size_t>(std::max(sent, ssize_t{0}));
    }

    const std::string bytes_ = pattern(400'000);
    place server_;
    std::vector<plain_peer> peers_;
    std::vector<std::unique_ptr<flux::stream>> streams_;
    std::vector<std::size_t> sent_;
};

TEST(Proactor, StreamsThatNobodyReadsKeepNoOthersFromTheirInput)
{
    proactor_world world;
    world.start([&](flux::flow &) {
        const hoard unread(world.io());
        connected both(world.io());
        for (int round = 0; round < 3; ++round) {
            EXPECT_EQ(receive(*both.far, 4096, in(1ms)), "error ETIMEDOUT");
            EXPECT_EQ(send(*both.near, "through"), 0);
            EXPECT_EQ(receive(*both.far, 4096, in(await_limit)), "through");
        }
        unread.read();
        EXPECT_EQ(send(*both.near, "after"), 0);
        both.near.reset();
        EXPECT_EQ(receive_all(*both.far), "after");
    });
    world.run();
}

TEST(Proactor, AStreamThatIsWatchedWithoutBuffersIsToldWhenThereIsInput)
{
    proactor_world world;
    world.start([&](flux::flow &) {
        connected both(world.io());
        const hoard unread(world.io());
        flux::arrivals &arrivals = *both.server.arrivals;
        int owner = 0;
        EXPECT_TRUE(arrivals.watch(*both.far, &owner).has_value());
        EXPECT_EQ(arrivals.next(in(20ms)).error(), ETIMEDOUT);
        EXPECT_EQ(send(*both.near, "now"), 0);
        EXPECT_EQ((*arrivals.next(in(await_limit))).owner, &owner);
        EXPECT_EQ(receive(*both.far), "now");
    });
    world.run();
}

/// What this process's socket for the peer has in the kernel, received and not read.
std::size_t unread_in_kernel(const plain_peer &by)
{
    sockaddr_storage wanted{};
    socklen_t size = sizeof wanted;
    getsockname(by.socket.get(), reinterpret_cast<sockaddr *>(&wanted), &size);
    for (const auto &each : std::filesystem::directory_iterator("/proc/self/fd")) {
        const int number = std::stoi(each.path().filename());
        sockaddr_storage found{};
        socklen_t found_size = sizeof found;
        int unread = 0;
        if (getpeername(number, reinterpret_cast<sockaddr *>(&found), &found_size) == 0 && found_size == size &&
            std::memcmp(&found, &wanted, size) == 0 && ioctl(number, FIONREAD, &unread) == 0) {
            return static_cast<std::size_t>(unread);
        }
    }
    ADD_FAILURE() << "nobody has accepted this peer";
    return 0;
}

TEST(Proactor, OneStreamThatNobodyReadsLeavesMostBuffersToOthers)
{
    // As long as its peer can send: that is stopped when the kernel keeps what comes.
    constexpr std::size_t most_sent = 64'000'000;
    proactor_world world;
    world.start([&](flux::flow &) {
        const place server(world.io());
        const plain_peer peer(server.listener->local());
        const auto unread = server.accept();
        EXPECT_EQ(receive(*unread, 1, flux::moment::min()), "error ETIMEDOUT");
        fcntl(peer.socket.get(), F_SETFL, O_NONBLOCK);
        const std::string piece(1'000'000, 'x');
        std::size_t sent = 0;
        for (int quiet = 0; quiet < 5 && sent < most_sent;) {
            const ssize_t count = write(peer.socket.get(), piece.data(), piece.size());
            sent += static_cast<std::size_t>(std::max(count, ssize_t{0}));
            quiet = count > 0 ? 0 : quiet + 1;
            rest(world.io());
        }
        int unsent = 0;
        ioctl(peer.socket.get(), TIOCOUTQ, &unsent);
        const std::size_t held = sent - static_cast<std::size_t>(unsent) - unread_in_kernel(peer);
        EXPECT_LT(held, flux::receive_buffers::size * flux::receive_buffers::count / 4);
        EXPECT_GT(held, 0u);
    });
    world.run();
}

TEST(Proactor, AStreamThatNobodyReadsIsReceivedForUpToItsBoundAlone)
{
    proactor_world world;
    world.start([&](flux::flow &) {
        const place server(world.io());
        const plain_peer peer(server.listener->local());
        const int small = 64 << 10;
        setsockopt(peer.socket.get(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
        fcntl(peer.socket.get(), F_SETFL, O_NONBLOCK);
        auto unread = server.accept();
        EXPECT_EQ(receive(*unread, 1, flux::moment::min()), "error ETIMEDOUT");
        // Half of what all buffers hold, which is far more than those of one stream and of the kernel.
        constexpr std::size_t much = flux::receive_buffers::count * flux::receive_buffers::size / 2;
        const std::string bytes = pattern(much);
        std::size_t sent = 0;
        for (int idle_rounds = 0; idle_rounds < 3 && sent < much; ++idle_rounds) {
            for (ssize_t some = 1; some > 0 && sent < much;) {
                some = write(peer.socket.get(), bytes.data() + sent, much - sent);
                sent += static_cast<std::size_t>(std::max(some, ssize_t{0}));
                idle_rounds = some > 0 ? 0 : idle_rounds;
            }
            rest(world.io());
        }
        EXPECT_LT(sent, much) << "it is received for, though nobody reads";
        EXPECT_TRUE(receive_all(*unread, sent) == bytes.substr(0, sent));
    });
    world.run();
}

TEST(Proactor, TwoOnOneThreadShareNothing)
{
    proactor_world one;
    proactor_world two;
    for (proactor_world *const each : {&one, &two}) {
        each->start([each](flux::flow &) {
            connected both(each->io());
            EXPECT_EQ(send(*both.near, each->io().name()), 0);
            EXPECT_EQ(receive(*both.far), "proactor");
        });
    }
    one.run();
    two.run();
}

TEST(Proactor, ARefusalIsAnException)
{
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "the sanitizer looks at the exception through a pipe, for which there is no descriptor then";
#endif
    rlimit usual{};
    getrlimit(RLIMIT_NOFILE, &usual);
    const rlimit none{0, usual.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    EXPECT_THROW(flux::make_proactor(), std::system_error);
    setrlimit(RLIMIT_NOFILE, &usual);
}

TEST(Proactor, AFlowThatNeverWaitsSeesWhatHasComeWhenItLooks)
{
    proactor_world world;
    world.start([&](flux::flow &) {
        place server(world.io());
        const plain_peer peer(server.listener->local());
        const std::unique_ptr<flux::stream> accepted = server.accept();
        int owner = 0;
        EXPECT_TRUE(server.arrivals->watch(*accepted, &owner).has_value());
        rest(world.io()); // it is submitted
        peer.send("here"); // by itself, so that the loop has nothing to submit when it looks
        void *ready = nullptr;
        await([&] {
            world.io().wait(flux::moment::min());
            world.io().deliver();
            ready = server.arrivals->next_ready();
            return ready != nullptr;
        });
        EXPECT_EQ(ready, &owner);
    });
    world.run();
}

/// A loop whose thread ends while the kernel receives for a stream that is closed.
void end_while_receiving()
{
    proactor_world world;
    std::thread loop([&world] {
        std::optional<connected> both;
        world.start([&](flux::flow &) {
            both.emplace(world.io());
            EXPECT_EQ(receive(*both->far, 1, in(1ms)), "error ETIMEDOUT"); // it does so from now on
        });
        world.run();
        both.reset();
    });
    loop.join();
}

TEST(Proactor, WhatIsInFlightAtTheEndOfItsThreadIsFreed)
{
    end_while_receiving(); // and what the process opens once is open
    const std::size_t before = open_descriptors();
    end_while_receiving();
    EXPECT_EQ(open_descriptors(), before);
}

/// All that comes to this peer.
std::string read_all(const plain_peer &by)
{
    std::string all;
    std::array<char, 65'536> some;
    for (ssize_t count = 1; count > 0;) {
        count = read(by.socket.get(), some.data(), some.size());
        all.append(some.data(), static_cast<std::size_t>(std::max(count, ssize_t{0})));
    }
    return all;
}

TEST(Proactor, WhatClosedStreamsHaveToSendGoesOutBeforeTheLoopEnds)
{
    std::vector<plain_peer> peers;
    std::vector<std::string> got;
    std::thread reads;
    {
        proactor_world world;
        world.start([&](flux::flow &) {
            place server(world.io());
            for (int each = 0; each < 2; ++each) {
                peers.emplace_back(server.listener->local());
                const std::unique_ptr<flux::stream> accepted = server.accept();
                EXPECT_EQ(send(*accepted, std::string(30'000'000, 'a'), in(10ms)), ETIMEDOUT);
                EXPECT_EQ(send(*accepted, std::string(5'000, 'b')), 0);
            }
        });
        world.run();
        reads = std::thread([&] {
            for (const plain_peer &each : peers) {
                dawdle(10ms); // the loop has nothing else to do by then
                got.push_back(read_all(each));
            }
        });
        world.io().finish();
    }
    reads.join();
    for (const std::string &each : got) {
        EXPECT_TRUE(each.ends_with('a' + std::string(5'000, 'b')));
    }
}

} // namespace
