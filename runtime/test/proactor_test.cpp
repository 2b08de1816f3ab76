#include "flux/proactor.hpp"

#include "io_peers.hpp"
#include "io_world.hpp"

#include <flux/receive_buffers.hpp>

#include <cerrno>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <system_error>
#include <vector>

namespace {

using namespace std::chrono_literals;

/// Lets the loop turn for a while.
void rest(flux::io &through)
{
    EXPECT_EQ(through.make_arrivals()->next(in(20ms)).error(), ETIMEDOUT);
}

/// Peers that have sent as much as there is room for, to streams that nobody reads: they hold all buffers.
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
            sent_.push_back(0);
            while (true) {
                const std::size_t begin = sent_.back() % bytes_.size();
                const ssize_t count = write(peer.socket.get(), bytes_.data() + begin, bytes_.size() - begin);
                if (count < 0) {
                    EXPECT_EQ(errno, EAGAIN);
                    break;
                }
                sent_.back() += static_cast<std::size_t>(count);
            }
            EXPECT_GT(sent_.back(), 8 * flux::receive_buffers::size);
            peers_.push_back(std::move(peer));
        }
        rest(through);
    }

    /// Reads it all, with nothing lost.
    void read() const
    {
        for (std::size_t each = 0; each < streams_.size(); ++each) {
            std::size_t got = 0;
            while (got < sent_[each]) {
                const std::string some = receive(*streams_[each], 50'000);
                ASSERT_FALSE(some.empty());
                for (const char one : some) {
                    ASSERT_EQ(one, bytes_[got++ % bytes_.size()]);
                }
            }
        }
    }

  private:
    const std::string bytes_ = pattern(65'536);
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
