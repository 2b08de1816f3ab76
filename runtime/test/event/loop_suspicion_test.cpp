#include "flux/event/loop_suspicion.hpp"

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;

constexpr flux::moment start{};
constexpr flux::loop_sight at_a_node{7, 3, true};

/// A loop that has been at a node for a millisecond.
flux::loop_suspicion suspected()
{
    flux::loop_suspicion made;
    EXPECT_FALSE(made.is_same(at_a_node, start));
    EXPECT_FALSE(made.is_due(start + 999us));
    EXPECT_TRUE(made.is_same(at_a_node, start + 1ms));
    EXPECT_TRUE(made.is_due(start + 1ms));
    EXPECT_FALSE(made.is_held({500us, 0ms, false}, start + 1ms, start + 1ms)) << "what was before does not count";
    return made;
}

TEST(LoopSuspicion, ANodeThatComputesHoldsItsLoop)
{
    flux::loop_suspicion loop = suspected();
    EXPECT_FALSE(loop.is_held({1499us, 0ms, false}, start + 2ms, start + 2ms));
    EXPECT_TRUE(loop.is_held({1500us, 0ms, false}, start + 3ms, start + 3ms));
    EXPECT_EQ(loop.own().computed(), 1ms);
}

TEST(LoopSuspicion, ANodeThatSleepsHoldsItsLoop)
{
    flux::loop_suspicion loop = suspected();
    EXPECT_TRUE(loop.is_held({510us, 0ms, true}, start + 3ms, start + 3ms));
    EXPECT_EQ(loop.own().slept(), 1990us);
}

TEST(LoopSuspicion, ANodeThatHasNoProcessorDoesNotHoldItsLoop)
{
    flux::loop_suspicion loop = suspected();
    for (std::chrono::milliseconds time = 10ms; time < 1h; time += 1s) {
        EXPECT_TRUE(loop.is_same(at_a_node, start + time));
        EXPECT_FALSE(loop.is_held({600us, time - 1ms, false}, start + time, start + time));
    }
}

TEST(LoopSuspicion, WhatIsSeenAnewIsSuspectedAnewAndCountedOnce)
{
    flux::loop_suspicion loop = suspected();
    EXPECT_TRUE(loop.is_held({9ms, 0ms, false}, start + 10ms, start + 10ms));
    EXPECT_TRUE(loop.is_to_be_counted());
    EXPECT_FALSE(loop.is_to_be_counted());
    flux::loop_sight next = at_a_node;
    ++next.turn;
    EXPECT_FALSE(loop.is_same(next, start + 10ms));
    EXPECT_EQ(loop.seen(), next);
    EXPECT_FALSE(loop.is_due(start + 10ms));
    EXPECT_FALSE(loop.is_held({20ms, 0ms, false}, start + 11ms, start + 11ms));
    EXPECT_TRUE(loop.is_to_be_counted());
}

} // namespace
