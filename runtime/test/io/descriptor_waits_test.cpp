#include "flux/io/descriptor_waits.hpp"

#include "../support/seeds.hpp"
#include "../support/calling_world.hpp"
#include "../support/running_source.hpp"
#include "../support/patience.hpp"

#include <flux/simulation/simulated_time.hpp>

#include <atomic>
#include <poll.h>

namespace {

using namespace std::chrono_literals;

template <class World>
class DescriptorWaits : public testing::Test
{
  public:
    calling_world<World> world;

    int wait(int number, std::uint32_t events, flux::moment deadline = flux::never)
    {
        const flux::awaited_descriptor on{number, events};
        return world.io().descriptors()->wait({&on, 1}, deadline);
    }
};

using loops = testing::Types<reactor_world, proactor_world>;
TYPED_TEST_SUITE(DescriptorWaits, loops);

TYPED_TEST(DescriptorWaits, SayWhatTheKernelDoesNotWatch)
{
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    this->world.start([&](flux::flow &) {
        EXPECT_EQ(this->wait(file, EPOLLIN), ENOTSUP);
        EXPECT_EQ(this->wait(-1, EPOLLIN), EBADF);
        EXPECT_FALSE(flux::descriptor_waits::any());
    });
    this->world.run();
    close(file);
}

/// Every order in which two fibers begin to wait for input and room of one socket, and both come, or one, or the socket
/// is closed: nobody waits for ever, and each is told what happened to it.
TYPED_TEST(DescriptorWaits, OfTwoEachIsWokenByItsOwn)
{
    constexpr std::size_t much = 400'000;
    enum what : int { input, room, end };
    for (const bool reader_first : {false, true}) {
        for (int first = input; first <= end; ++first) {
            for (int second = input; second <= end; ++second) {
                two_ends ends = two_ends::of_sockets();
                int read_ends = 0;
                int write_ends = 0;
                const auto reads = [&](flux::flow &) { read_ends = read_text(ends[0]) == "a" ? 1 : 2; };
                const auto writes = [&](flux::flow &) {
                    const std::string bytes(much, 'b');
                    write_ends = write(ends[0], bytes.data(), much) == static_cast<ssize_t>(much) ? 1 : 2;
                };
                reader_first ? this->world.start(reads) : this->world.start(writes);
                reader_first ? this->world.start(writes) : this->world.start(reads);
                bool has_input = false;
                bool has_room = false;
                this->world.start([&](flux::flow &) {
                    let_others_run();
                    for (const int each : {first, second, static_cast<int>(end)}) {
                        if (each == end) {
                            ends.close_end(0);
                        } else if (each == input && ends[0] >= 0) {
                            write_text(ends[1], "a");
                            has_input = true;
                        } else if (ends[0] >= 0) {
                            for (std::size_t got = 0; got < much && write_ends == 0;) {
                                got += read_text(ends[1], 50'000).size();
                            }
                            has_room = true;
                        }
                        let_others_run();
                        EXPECT_EQ(read_ends != 0, has_input || ends[0] < 0);
                        EXPECT_EQ(write_ends != 0, has_room || ends[0] < 0);
                    }
                });
                this->world.run();
                EXPECT_EQ(read_ends, has_input ? 1 : 2);
            }
        }
    }
}

/// Fibers that read, write, poll and close the ends of a few sockets, and lose their time, as a seed says. What is
/// written is read, as long as nobody closes; and all come to their end.
template <class World>
void run_at_random(std::uint64_t seed)
{
    flux::simulated_time dice(seed);
    calling_world<World> world;
    constexpr int pairs = 3;
    std::vector<two_ends> sockets;
    for (int number = 0; number < pairs; ++number) {
        sockets.push_back(dice.chance(500) ? two_ends::of_pipe() : two_ends::of_sockets());
    }
    std::size_t written = 0;
    std::size_t read_so_far = 0;
    int writers = 6;
    for (int number = 0; number < 6; ++number) {
        world.start([&, number](flux::flow &) {
            for (int time = 0; time < 20; ++time) {
                const std::string bytes(dice.chance(300) ? 70'000 : 10, 'x');
                const ssize_t done = write_text(sockets[static_cast<std::size_t>(number % pairs)][1], bytes);
                EXPECT_EQ(done, static_cast<ssize_t>(bytes.size()));
                written += static_cast<std::size_t>(done);
                if (dice.chance(300)) {
                    EXPECT_EQ(flux::sleep_for(1us), 0);
                }
            }
            if (--writers == 0) {
                for (two_ends &each : sockets) {
                    each.close_end(1);
                }
            }
        });
        world.start([&, number](flux::flow &flow) {
            const int from = sockets[static_cast<std::size_t>(number % pairs)][0];
            while (true) {
                pollfd on{from, POLLIN, 0};
                if (dice.chance(300)) {
                    poll(&on, 1, dice.chance(500) ? 1 : -1);
                }
                flow.set_deadline(dice.chance(300) ? world.io().now() + 1ms : flux::never);
                std::string bytes(dice.chance(500) ? 100'000 : 7, '\0');
                const ssize_t got = read(from, bytes.data(), bytes.size());
                flow.set_deadline(flux::never);
                if (got == 0) {
                    return;
                }
                EXPECT_TRUE(got > 0 || errno == ETIMEDOUT) << errno;
                read_so_far += static_cast<std::size_t>(std::max(got, ssize_t{0}));
            }
        });
    }
    world.run();
    EXPECT_EQ(read_so_far, written);
    EXPECT_FALSE(flux::descriptor_waits::any());
}

TYPED_TEST(DescriptorWaits, LoseNothingAtRandom)
{
    const std::uint64_t seeds = flux::thread_sanitizer || flux::address_sanitizer ? 3 : 15;
    for (const std::uint64_t seed : each_seed(seeds)) {
        run_at_random<TypeParam>(seed);
    }
}

// To the thread sanitizer it is a race to close what another thread reads from. That is what the test is about, so
// there it uses a call that the sanitizer does not know.
void close_while_read(int number)
{
#ifdef __SANITIZE_THREAD__
    const auto own = static_cast<unsigned int>(number);
    close_range(own, own, 0);
#else
    close(number);
#endif
}

/// A thread closes descriptors, just as a fiber of a real loop begins to wait for them.
TEST(DescriptorWaitsOfLoops, EndWheneverAThreadCloses)
{
    constexpr int rounds = 200;
    std::atomic<int> to_close{-1};
    std::atomic<bool> over{false};
    std::thread closer([&] {
        while (!over) {
            if (const int number = to_close.exchange(-1); number >= 0) {
                close_while_read(number);
            }
            std::this_thread::yield();
        }
    });
    sample::work = [&](const sample::Listen_out &) {
        if (flux::running_flow->position() != sample::node_Begin) {
            return;
        }
        for (int round = 0; round < rounds; ++round) {
            two_ends ends = two_ends::of_sockets();
            const bool is_other = round % 2 == 0;
            const int waits_for = is_other ? ends[1] : ends[0];
            to_close = std::exchange(ends.ends[0], -1);
            char byte = 0;
            EXPECT_EQ(read(waits_for, &byte, 1), is_other ? 0 : -1);
            EXPECT_TRUE(is_other || errno == EBADF) << errno;
        }
        over = true;
    };
    sample::listen = sample::flows(1, [](int) { return sample::Listen_out{2, 2, -1}; });
    sample::running_source running(sample::program, sample::source_Listen, flux::strategy_kind::event, 1, 1);
    running.await_finished(1);
    closer.join();
}

} // namespace
