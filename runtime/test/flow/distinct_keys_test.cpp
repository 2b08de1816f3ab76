#include "flux/flow/distinct_keys.hpp"

#include "flux/constraint/key.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace {

using flux::distinct_keys;
using flux::scatter;

TEST(DistinctKeys, OfNoneAndOfOneAreExact)
{
    distinct_keys keys;
    EXPECT_EQ(keys.count(), 0u);
    for (int time = 0; time < 1000; ++time) {
        keys.add(scatter(7));
    }
    EXPECT_EQ(keys.count(), 1u);
    keys.add(0);
    keys.add(~std::uint64_t{0});
    EXPECT_EQ(keys.count(), 3u);
}

// As often as a normal distribution would have it: two in three within the standard error, and all within four of it.
TEST(DistinctKeys, AreEstimatedToTheirStandardError)
{
    constexpr double standard_error = 1.04 / 32;
    constexpr int draws = 40;
    for (const std::uint64_t count : {10u, 100u, 1000u, 3000u, 10'000u, 100'000u}) {
        double sum = 0;
        int within = 0;
        for (int draw = 0; draw < draws; ++draw) {
            distinct_keys keys;
            for (std::uint64_t key = 0; key < count; ++key) {
                keys.add(scatter(static_cast<std::uint64_t>(draw) << 32 | key));
            }
            const double error = (static_cast<double>(keys.count()) - static_cast<double>(count)) /
                                 static_cast<double>(count);
            EXPECT_LE(std::abs(error), 4 * standard_error) << count;
            sum += error;
            within += std::abs(error) <= standard_error ? 1 : 0;
        }
        EXPECT_LE(std::abs(sum / draws), standard_error / 2) << count << ": it has a bias";
        EXPECT_GE(within, draws / 2) << count;
    }
}

TEST(DistinctKeys, OfAnyThread)
{
    distinct_keys alone;
    distinct_keys together;
    constexpr std::uint64_t each = 5000;
    std::vector<std::thread> threads;
    for (std::uint64_t thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&together, thread] {
            // Half of them come on the next thread, too.
            for (std::uint64_t key = thread * each / 2; key < thread * each / 2 + each; ++key) {
                together.add(scatter(key));
            }
        });
    }
    for (std::thread &one : threads) {
        one.join();
    }
    for (std::uint64_t key = 0; key < 5 * each / 2; ++key) {
        alone.add(scatter(key));
    }
    EXPECT_EQ(together.count(), alone.count());
}

} // namespace
