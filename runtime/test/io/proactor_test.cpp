#include "flux/io/proactor.hpp"

#include "../support/io_peers.hpp"
#include "../support/io_world.hpp"

#include <flux/io/receive_buffers.hpp>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <string_view>
#include <system_error>
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
            EXPECT_EQ(receive(*both.far, 4096, in(5000ms)), "through");
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
        EXPECT_EQ((*arrivals.next(in(5000ms))).owner, &owner);
        EXPECT_EQ(receive(*both.far), "now");
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
    rlimit usual{};
    getrlimit(RLIMIT_NOFILE, &usual);
    const rlimit none{0, usual.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    EXPECT_THROW(flux::make_proactor(), std::system_error);
    setrlimit(RLIMIT_NOFILE, &usual);
}

} // namespace
