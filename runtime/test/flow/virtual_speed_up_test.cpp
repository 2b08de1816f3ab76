#include "flux/flow/virtual_speed_up.hpp"

#include <array>
#include <gtest/gtest.h>
#include <sched.h>
#include <thread>

namespace {

using namespace std::chrono_literals;
using flux::owed_delay;
using flux::park_reason;
using flux::virtual_speed_up;

constexpr flux::node_number faster = 3;
constexpr flux::node_number other = 4;

// The thread stays on the processor that it is on, so that what is read is certain.
class VirtualSpeedUp : public testing::Test
{
  protected:
    VirtualSpeedUp()
    {
        sched_getaffinity(0, sizeof before_, &before_);
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(sched_getcpu(), &one);
        sched_setaffinity(0, sizeof one, &one);
        here_ = static_cast<std::size_t>(sched_getcpu());
        elsewhere_ = here_ + 1;
        by.begin(faster);
        by.set_part(0.25);
    }
    ~VirtualSpeedUp() override { sched_setaffinity(0, sizeof before_, &before_); }

    virtual_speed_up by;
    std::size_t here_ = 0;
    std::size_t elsewhere_ = 0;

  private:
    cpu_set_t before_;
};

TEST_F(VirtualSpeedUp, APartOfWhatTheNodeWorksIsAdded)
{
    EXPECT_TRUE(by.is_on());
    EXPECT_EQ(by.worked(4ms, &here_), 1ms);
    EXPECT_EQ(by.worked(8ms, &elsewhere_), 2ms);
    EXPECT_EQ(by.worked(8ms, nullptr), 2ms);
    EXPECT_EQ(by.read().all, 5ms);
    EXPECT_EQ(by.read().here, 1ms);
    by.set_part(0);
    EXPECT_EQ(by.worked(8ms, &here_), 0ms);
    by.end();
    EXPECT_FALSE(by.is_on());
}

TEST_F(VirtualSpeedUp, WhoRunsOnAnotherProcessorOwesIt)
{
    owed_delay flow;
    flow.begin(by);
    flow.calls(other);
    by.worked(4ms, &elsewhere_);
    EXPECT_EQ(flow.ran(5ms, 0ns, false).by_thread, 1ms);
    EXPECT_EQ(flow.ran(5ms, 0ns, false).by_thread, 0ms) << "it is owed once";
}

TEST_F(VirtualSpeedUp, WhoHasTheSameProcessorCannotHaveRunMeanwhile)
{
    owed_delay flow;
    flow.begin(by);
    flow.calls(other);
    by.worked(4ms, &here_);
    EXPECT_EQ(flow.ran(5ms, 0ns, false).by_thread, 0ms);
}

TEST_F(VirtualSpeedUp, WhatTheNodeWorksItDoesNotOwe)
{
    owed_delay flow;
    flow.begin(by);
    flow.calls(faster);
    EXPECT_EQ(flow.ran(4ms, 0ns, false).by_thread, 0ms);
    EXPECT_EQ(by.read().all, 1ms);
    flow.calls(other);
    EXPECT_EQ(flow.ran(4ms, 0ns, false).by_thread, 0ms);
    EXPECT_EQ(by.read().all, 1ms) << "only the node adds";
}

TEST_F(VirtualSpeedUp, TwoThatRunTheNodeOweEachOther)
{
    owed_delay flow;
    flow.begin(by);
    flow.calls(faster);
    by.worked(4ms, &elsewhere_);
    EXPECT_EQ(flow.ran(4ms, 0ns, false).by_thread, 1ms);
    EXPECT_EQ(by.read().all, 2ms);
}

TEST_F(VirtualSpeedUp, WhoWaitedForAProcessorOwesNothingForThatTime)
{
    owed_delay flow;
    flow.begin(by);
    flow.calls(other);
    by.worked(8ms, &elsewhere_);
    const owed_delay::owed owed = flow.ran(8ms, 6ms, false);
    EXPECT_EQ(owed.by_thread, 500us);
    EXPECT_EQ(owed.by_park, 0ns);
}

TEST_F(VirtualSpeedUp, WhatItsThreadSleptInTheKernelLastsLonger)
{
    owed_delay flow;
    flow.begin(by);
    flow.calls(other);
    by.worked(8ms, &elsewhere_);
    const owed_delay::owed owed = flow.ran(8ms, 6ms, true);
    EXPECT_EQ(owed.by_thread, 500us);
    EXPECT_EQ(owed.by_park, 1500us);
}

TEST_F(VirtualSpeedUp, AParkForTheWorldLastsLonger)
{
    owed_delay flow;
    flow.begin(by);
    flow.calls(other);
    by.worked(8ms, &here_);
    EXPECT_EQ(flow.parked(8ms, park_reason::sleep), 2ms);
    by.worked(8ms, nullptr);
    EXPECT_EQ(flow.parked(8ms, park_reason::read), 2ms);
}

TEST_F(VirtualSpeedUp, WhoWasWokenByAnotherFlowOwesNothingOfMeanwhile)
{
    owed_delay flow;
    flow.begin(by);
    flow.calls(other);
    by.worked(8ms, &elsewhere_);
    EXPECT_EQ(flow.parked(8ms, park_reason::lock), 0ms);
    by.worked(8ms, &elsewhere_);
    EXPECT_EQ(flow.parked(8ms, park_reason::flow), 0ms);
    by.worked(8ms, &elsewhere_);
    flow.goes_on(); // as after a constraint
    EXPECT_EQ(flow.ran(1ms, 0ns, false).by_thread, 0ms);
}

TEST_F(VirtualSpeedUp, ANodeThatIsParkedIsFasterToo)
{
    owed_delay flow;
    flow.begin(by);
    flow.calls(faster);
    EXPECT_EQ(flow.parked(8ms, park_reason::sleep), 0ms);
    EXPECT_EQ(by.read().all, 2ms);
    EXPECT_EQ(flow.ran(1ms, 0ns, false).by_thread, 0ms) << "what it added by itself";
}

TEST_F(VirtualSpeedUp, ALifeIsCountedWithoutItsDelays)
{
    owed_delay flow;
    flow.begin(by);
    flow.calls(other);
    by.worked(4ms, &elsewhere_);
    EXPECT_EQ(flow.ran(5ms, 0ns, false).by_thread, 1ms);
    flow.ended(6ms);
    EXPECT_FALSE(flow.is_on());
    EXPECT_EQ(by.lived().flows, 1u);
    EXPECT_EQ(by.lived().together, 5ms);
}

} // namespace
