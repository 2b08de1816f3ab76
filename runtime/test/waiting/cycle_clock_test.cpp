#include "flux/waiting/cycle_clock.hpp"

#include <gtest/gtest.h>
#include <thread>

namespace {

using namespace std::chrono_literals;

TEST(CycleClock, CountsAtItsRate)
{
    const std::uint64_t in_10_ms = flux::cycle_clock::counts_in(10ms);
    const auto since = std::chrono::steady_clock::now();
    const std::uint64_t before = flux::cycle_clock::now();
    std::this_thread::sleep_for(10ms);
    const std::uint64_t counted = flux::cycle_clock::now() - before;
    const auto took = std::chrono::steady_clock::now() - since;
    EXPECT_GE(counted, in_10_ms * 9 / 10);
    EXPECT_LE(static_cast<double>(counted), 1.1 * static_cast<double>(in_10_ms) * (took / 10.0ms));
}

} // namespace
