#include "flux/calls/sleeps.hpp"

#include "../support/running_source.hpp"

#include <cerrno>
#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
using sample::running_source;

/// Runs so many flows that each do this, all at a time, as fibers of one loop.
void in_flows(int count, std::function<void(flux::flow &)> action)
{
    sample::work = [=](const sample::Listen_out &) {
        if (flux::running_flow->position() == sample::node_Begin) {
            action(*flux::running_flow);
        }
    };
    sample::listen = sample::flows(count, [](int) { return sample::Listen_out{2, 2, -1}; });
    running_source running(sample::program, sample::source_Listen, flux::strategy_kind::event,
                           static_cast<std::size_t>(count), 1);
    running.await_finished(static_cast<std::uint64_t>(count));
}

TEST(Sleeps, LetOthersHaveTheLoop)
{
    std::atomic<int> asleep{0};
    std::atomic<int> most{0};
    in_flows(40, [&](flux::flow &) {
        most = std::max(most.load(), ++asleep);
        do { // hangs if one sleeps after the other
            EXPECT_EQ(usleep(20'000), 0);
            std::this_thread::sleep_for(1ms);
        } while (most <= 30);
        --asleep;
    });
    EXPECT_GT(most, 30);
}

TEST(Sleeps, WhoSpinsForAnotherOfItsLoopLetsThatGoFirst)
{
    std::atomic_flag taken;
    in_flows(4, [&](flux::flow &) {
        for (int time = 0; time < 3; ++time) {
            while (taken.test_and_set()) {
                std::this_thread::yield(); // hangs if the one that sleeps never goes on
            }
            usleep(1'000);
            taken.clear();
        }
    });
    EXPECT_FALSE(taken.test());
}

} // namespace
