#include "flux/flow/within.hpp"

#include "../support/running_source.hpp"
#include "flux/flow/branch.hpp"
#include "flux/sleep.hpp"
#include "../support/patience.hpp"

#include <cerrno>
#include <cstdint>
#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
using flux::strategy_kind;
using flux::within;
using sample::running_source;

class EachRuntimesWithin : public testing::TestWithParam<strategy_kind>
{
  protected:
    /// Does this in one flow.
    static void in_a_flow(std::function<void(flux::flow &)> action)
    {
        sample::work = [=](const sample::Listen_out &) {
            if (flux::running_flow->position() == sample::node_Begin) {
                action(*flux::running_flow);
            }
        };
        sample::listen = sample::flows(1, [](int) { return sample::Listen_out{2, 2, -1}; });
        running_source running(sample::program, sample::source_Listen, GetParam(), 1, 4);
        running.await_finished(1);
    }
};

TEST_P(EachRuntimesWithin, EndsAWaitAndIsGoneAfterwards)
{
    in_a_flow([](flux::flow &flow) {
        {
            const within limit(flow, 10);
            EXPECT_EQ(flux::sleep_for(30s), ETIMEDOUT);
            EXPECT_EQ(flux::sleep_for(30s), ETIMEDOUT) << "it has passed";
        }
        EXPECT_EQ(flow.deadline(), flux::never);
        EXPECT_EQ(flux::sleep_for(1ms), 0);
    });
}

TEST_P(EachRuntimesWithin, TheEarlierOfTwoHolds)
{
    in_a_flow([](flux::flow &flow) {
        const flux::moment own = in(2h);
        flow.set_deadline(own);
        {
            const within longer(flow, 3 * 3'600'000);
            EXPECT_EQ(flow.deadline(), own);
            const within shorter(flow, 10'000);
            const flux::moment earlier = flow.deadline();
            EXPECT_LT(earlier, own);
            const within inside(flow, 15'000);
            EXPECT_EQ(flow.deadline(), earlier);
        }
        EXPECT_EQ(flow.deadline(), own);
    });
}

TEST_P(EachRuntimesWithin, MoreTimeThanTheClockCanSayIsNoDeadline)
{
    in_a_flow([](flux::flow &flow) {
        const within limit(flow, INT64_MAX);
        EXPECT_EQ(flow.deadline(), flux::never);
        const within none(flow, 0);
        EXPECT_TRUE(has_come(flow.deadline()));
    });
}

flux::outcome doze(flux::flow &branch)
{
    EXPECT_EQ(flux::sleep_for(30s), ETIMEDOUT);
    return branch.done();
}

TEST_P(EachRuntimesWithin, HoldsForBranchesThatBeginMeanwhile)
{
    in_a_flow([](flux::flow &flow) {
        const within limit(flow, 10);
        flux::branch<> first(flow, 0, doze);
        flux::branch<> second(flow, 0, doze);
        EXPECT_EQ(flux::join(flow, first, second), flux::outcome::done);
    });
}

INSTANTIATE_TEST_SUITE_P(Within, EachRuntimesWithin, testing::Values(strategy_kind::thread, strategy_kind::pool,
                                                                     strategy_kind::event));

} // namespace
