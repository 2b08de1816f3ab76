#include "flux/waiting/timer.hpp"

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
using flux::clock;

TEST(Timer, BeatsAtMultiplesOfItsPeriod)
{
    const clock::time_point begin(100s);
    flux::timer timer(10ms, begin);
    EXPECT_EQ(timer.next(), begin + 10ms);
    timer.given(begin + 10ms + 300us); // late beats do not add up
    EXPECT_EQ(timer.next(), begin + 20ms);
    timer.given(begin + 20ms);
    EXPECT_EQ(timer.next(), begin + 30ms);
}

TEST(Timer, MissedBeatsCoalesce)
{
    const clock::time_point begin(100s);
    flux::timer timer(10ms, begin);
    timer.given(begin + 57ms);
    EXPECT_EQ(timer.next(), begin + 60ms);
    timer.given(begin + 70ms);
    EXPECT_EQ(timer.next(), begin + 80ms);
}

} // namespace
