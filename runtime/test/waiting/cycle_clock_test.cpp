#include "flux/waiting/cycle_clock.hpp"

#include "../support/patience.hpp"

#include <gtest/gtest.h>
#include <thread>

namespace {

using namespace std::chrono_literals;

TEST(CycleClock, CountsAtItsRate)
{
    const std::uint64_t in_10_ms = flux::cycle_clock::counts_in(10ms);
    const stopwatch since;
    const std::uint64_t before = flux::cycle_clock::now();
    dawdle(10ms);
    const std::uint64_t counted = flux::cycle_clock::now() - before;
    EXPECT_GE(counted, in_10_ms * 9 / 10);
    EXPECT_TRUE(since.has_passed(9ms * counted / in_10_ms)) << "it counts too fast";
}

} // namespace
