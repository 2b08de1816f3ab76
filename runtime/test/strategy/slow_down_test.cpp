#include "flux/strategy/slow_down.hpp"

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;

void fail(flux::slow_down &source, std::size_t times)
{
    for (std::size_t i = 0; i < times; ++i) {
        source.failed(1us);
    }
}

TEST(SlowDown, AFewFailuresCostNothing)
{
    flux::slow_down source;
    EXPECT_FALSE(source.watching());
    for (std::size_t i = 0; i < flux::slow_down::free_failures; ++i) {
        EXPECT_EQ(source.failed(1us), 0ms);
        EXPECT_TRUE(source.watching());
    }
    EXPECT_FALSE(source.to_be_named());
    EXPECT_EQ(source.failed(1us), 1ms);
}

TEST(SlowDown, PausesDoubleUpToTheLongest)
{
    flux::slow_down source;
    fail(source, flux::slow_down::free_failures);
    for (const auto pause : {1ms, 2ms, 4ms, 8ms, 16ms, 32ms, 64ms, 100ms, 100ms}) {
        EXPECT_EQ(source.failed(1us), pause);
    }
    fail(source, 100'000);
    EXPECT_EQ(source.failed(1us), 100ms);
}

TEST(SlowDown, SuccessAndWaitingForgive)
{
    flux::slow_down source;
    fail(source, flux::slow_down::free_failures + 3);
    source.succeeded();
    EXPECT_FALSE(source.watching());
    EXPECT_EQ(source.failed(1us), 0ms);
    fail(source, flux::slow_down::free_failures + 3);
    EXPECT_EQ(source.failed(flux::slow_down::waited), 0ms);
    EXPECT_EQ(source.failed(1us), 0ms);
}

TEST(SlowDown, IsNamedOnce)
{
    flux::slow_down source;
    fail(source, flux::slow_down::free_failures + 1);
    EXPECT_TRUE(source.to_be_named());
    EXPECT_FALSE(source.to_be_named());
    source.succeeded();
    fail(source, flux::slow_down::free_failures + 1);
    EXPECT_FALSE(source.to_be_named());
}

} // namespace
