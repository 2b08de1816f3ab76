#include "flux/sleep.hpp"

#include "support/running_source.hpp"
#include "support/patience.hpp"

#include <cerrno>
#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
using flux::strategy_kind;
using sample::running_source;

/// Runs so many flows that each do this, all at a time, on one thread where they are fibers.
void in_flows(strategy_kind kind, int count, std::function<void(flux::flow &)> action)
{
    sample::work = [=](const sample::Listen_out &) {
        if (flux::running_flow->position() == sample::node_Begin) {
            action(*flux::running_flow);
        }
    };
    sample::listen = sample::flows(count, [](int) { return sample::Listen_out{2, 2, -1}; });
    running_source running(sample::program, sample::source_Listen, kind, static_cast<std::size_t>(count), 1);
    running.await_finished(static_cast<std::uint64_t>(count));
}

TEST(Sleep, SleepsSoLongOutsideOfFlows)
{
    const stopwatch since;
    EXPECT_EQ(flux::sleep_for(10ms), 0);
    EXPECT_TRUE(since.has_passed(10ms));
}

TEST(Sleep, SleepsSoLongInFlows)
{
    for (const strategy_kind kind : {strategy_kind::thread, strategy_kind::pool, strategy_kind::event}) {
        in_flows(kind, 2, [](flux::flow &) {
            for (const auto time : {10ms, 0ms, -1ms}) {
                const stopwatch since;
                EXPECT_EQ(flux::sleep_for(time), 0);
                EXPECT_TRUE(since.has_passed(time));
            }
        });
    }
}

TEST(Sleep, SaysWhyItWasCutShort)
{
    for (const strategy_kind kind : {strategy_kind::thread, strategy_kind::pool, strategy_kind::event}) {
        in_flows(kind, 1, [](flux::flow &flow) {
            flow.set_deadline(in(5ms));
            EXPECT_EQ(flux::sleep_for(1h), ETIMEDOUT);
            flow.set_deadline(flux::never);
            flow.cancel();
            EXPECT_EQ(flux::sleep_for(1h), ECANCELED);
            EXPECT_EQ(flux::sleep_for(0h), ECANCELED);
        });
    }
}

TEST(Sleep, LetsOthersHaveTheLoop)
{
    std::atomic<int> asleep{0};
    std::atomic<int> most{0};
    in_flows(strategy_kind::event, 100, [&](flux::flow &) {
        most = std::max(most.load(), ++asleep);
        do { // hangs if one sleeps after the other
            EXPECT_EQ(flux::sleep_for(20ms), 0);
        } while (most <= 50);
        --asleep;
    });
    EXPECT_GT(most, 50);
}

} // namespace
