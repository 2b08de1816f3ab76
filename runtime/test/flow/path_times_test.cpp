#include "flux/flow/path_times.hpp"

#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using flux::flow_end;
using flux::outcome;
using flux::path_time_counts;
using flux::path_times;
using flux::time_kind;

flux::divided_time took(std::chrono::nanoseconds ran, std::chrono::nanoseconds parked)
{
    flux::divided_time time{};
    time[time_kind::ran] = ran;
    time[time_kind::parked] = parked;
    return time;
}

std::uint64_t sum_ns(const path_time_counts &of, time_kind kind)
{
    return of.sums_ns[static_cast<std::size_t>(kind)];
}

TEST(PathTimes, AreApartByPathAndEnd)
{
    path_times times;
    const flow_end ends[] = {{0, outcome::done, false, 7},
                             {1, outcome::done, false, 7},
                             {0, outcome::failed, false, 7},
                             {0, outcome::failed, true, 7},
                             {0, outcome::done, false, 8}};
    for (const flow_end &each : ends) {
        times.add(each, took(10us, 20us), 1);
        times.add(each, took(30us, 0us), 251);
    }
    const std::vector<path_time_counts> counts = times.counts();
    ASSERT_EQ(counts.size(), std::size(ends));
    for (const flow_end &each : ends) {
        const auto found = std::ranges::find(counts, each, &path_time_counts::of);
        ASSERT_NE(found, counts.end());
        EXPECT_EQ(found->whole.times(), 252u);
        EXPECT_EQ(found->whole.measured(), 2u);
        EXPECT_EQ(sum_ns(*found, time_kind::ran), 10'000u + 251 * 30'000);
        EXPECT_DOUBLE_EQ(found->ran_squares_us2, 10 * 10 + 251 * 30 * 30);
        EXPECT_EQ(sum_ns(*found, time_kind::parked), 20'000u);
        EXPECT_EQ(sum_ns(*found, time_kind::waited), 0u);
    }
    EXPECT_EQ(times.left_out(), 0u);
}

TEST(PathTimes, CountWhatHasNoRoom)
{
    path_times times;
    for (std::uint64_t path = 0; path < path_times::most + 3; ++path) {
        times.add({0, outcome::done, false, path << 40}, took(1us, 0us), 2);
    }
    times.add({0, outcome::done, false, 0}, took(1us, 0us), 1);
    EXPECT_EQ(times.counts().size(), path_times::most);
    EXPECT_EQ(times.left_out(), 6u);
}

TEST(PathTimes, LoseNothingWhenThreadsAddAtOnce)
{
    path_times times;
    std::vector<std::thread> threads;
    for (int number = 0; number < 4; ++number) {
        threads.emplace_back([&] {
            for (std::uint64_t path = 0; path < 200; ++path) {
                times.add({0, outcome::done, false, path}, took(1us, 1us), 1);
            }
        });
    }
    for (std::thread &each : threads) {
        each.join();
    }
    const std::vector<path_time_counts> counts = times.counts();
    EXPECT_EQ(counts.size(), 200u);
    for (const path_time_counts &each : counts) {
        EXPECT_EQ(each.whole.times(), 4u) << each.of.path;
        EXPECT_EQ(sum_ns(each, time_kind::ran), 4'000u);
    }
}

} // namespace
