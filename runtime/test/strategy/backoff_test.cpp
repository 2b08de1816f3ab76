#include "flux/strategy/backoff.hpp"

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
using pause = flux::backoff::pause;

constexpr flux::moment start{1h};

TEST(Backoff, TheFirstFailureCostsNothing)
{
    flux::backoff source;
    EXPECT_FALSE(source.watching());
    EXPECT_EQ(source.failed(start, 0ns), pause());
    EXPECT_TRUE(source.watching());
    EXPECT_EQ(source.failed(start, 1us), (pause{50us, 50us}));
    source.succeeded();
    EXPECT_FALSE(source.watching());
    EXPECT_EQ(source.failed(start, 0ns), pause());
}

TEST(Backoff, TriesHaveAnEighthOfAProcessor)
{
    flux::backoff source;
    source.failed(start, 0ns);
    EXPECT_EQ(source.failed(start, 1us), (pause{50us, 50us}));
    EXPECT_EQ(source.failed(start, 20us), (pause{140us, 140us}));
    EXPECT_EQ(source.failed(start, 999us), (pause{6993us, 6993us}));
}

TEST(Backoff, APauseGrowsWithTheTimeInWhichNothingHappens)
{
    flux::backoff source;
    source.failed(start, 0ns);
    EXPECT_EQ(source.failed(start + 800us, 1us), (pause{50us, 50us}));
    EXPECT_EQ(source.failed(start + 16ms, 1us), (pause{50us, 1ms}));
    EXPECT_EQ(source.failed(start + 320ms, 1us), (pause{50us, 20ms}));
    EXPECT_EQ(source.failed(start + 1600ms, 1us), (pause{50us, 100ms}));
    EXPECT_EQ(source.failed(start + 24h, 1us), (pause{50us, 100ms}));
}

TEST(Backoff, AFlowThatEndsIsSomethingThatHappens)
{
    flux::backoff source;
    source.failed(start, 0ns);
    EXPECT_EQ(source.failed(start + 1h, 1us).at_most, 100ms);
    source.flow_ended(start + 1h);
    EXPECT_EQ(source.failed(start + 1h, 1us), (pause{50us, 50us}));
    EXPECT_EQ(source.failed(start + 1h + 16ms, 1us), (pause{50us, 1ms}));
}

TEST(Backoff, WhoWaitsByItselfDoesNotPause)
{
    flux::backoff source;
    source.failed(start, 0ns);
    EXPECT_EQ(source.failed(start + 1h, flux::backoff::waited), pause());
    EXPECT_EQ(source.failed(start + 1h, 1us), (pause{50us, 50us}));
}

TEST(Backoff, IsNamedOnceAtTheLongestPause)
{
    flux::backoff source;
    source.failed(start, 0ns);
    source.failed(start + 1599ms, 1us);
    EXPECT_FALSE(source.to_be_named());
    source.failed(start + 1600ms, 1us);
    EXPECT_TRUE(source.to_be_named());
    source.failed(start + 1600ms, 1us);
    EXPECT_FALSE(source.to_be_named());
}

} // namespace
