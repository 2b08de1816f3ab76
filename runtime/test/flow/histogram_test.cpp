#include "flux/flow/histogram.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <thread>
#include <vector>

namespace {

using flux::histogram;
using ns = std::chrono::nanoseconds;

TEST(Histogram, HasStepsOfA32ndWithoutGaps)
{
    for (std::uint64_t time = 0; time < 64; ++time) {
        EXPECT_EQ(histogram::step_of(time), time);
        EXPECT_EQ(histogram::begin_of(time), time);
    }
    EXPECT_EQ(histogram::step_of(64), 64u);
    EXPECT_EQ(histogram::step_of(65), 64u);
    const std::size_t last = histogram::step_of(std::numeric_limits<std::int64_t>::max());
    for (std::size_t step = 64; step < last; ++step) {
        const std::uint64_t begin = histogram::begin_of(step);
        const std::uint64_t end = histogram::begin_of(step + 1);
        EXPECT_EQ(histogram::step_of(begin), step);
        EXPECT_EQ(histogram::step_of(end - 1), step);
        EXPECT_LE((end - begin) * 32, begin);
    }
}

TEST(Histogram, IsOffByA64thAtMost)
{
    std::mt19937_64 random(5);
    std::vector<std::uint64_t> times;
    histogram all;
    for (int i = 0; i < 20'000; ++i) {
        // As many of each order of magnitude, to an hour.
        times.push_back(static_cast<std::uint64_t>(std::exp2(static_cast<double>(random() % 4'170) / 100)));
        all.add(ns(times.back()));
    }
    std::ranges::sort(times);
    const flux::histogram_counts counts = all.counts();
    EXPECT_EQ(counts.times(), times.size());
    std::uint64_t sum = 0;
    for (const std::uint64_t each : times) {
        sum += each;
    }
    EXPECT_EQ(counts.sum(), sum);
    for (const double part : {0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0}) {
        const auto at = static_cast<std::size_t>(std::ceil(part * static_cast<double>(times.size()))) - 1;
        const auto exact = static_cast<double>(times[at]);
        EXPECT_NEAR(static_cast<double>(counts.quantile(part)), exact, exact / 64 + 1) << part;
    }
}

TEST(Histogram, OfNothingAndOfTheShortest)
{
    histogram all;
    EXPECT_EQ(all.counts().quantile(0.5), 0u);
    EXPECT_TRUE(all.counts().steps().empty());
    all.add(ns(-5));
    all.add(ns(0));
    all.add(ns(7));
    const flux::histogram_counts counts = all.counts();
    ASSERT_EQ(counts.steps().size(), 2u);
    EXPECT_EQ(counts.steps()[0].times, 2u);
    EXPECT_EQ(counts.quantile(0.5), 0u);
    EXPECT_EQ(counts.quantile(0.99), 7u);
    EXPECT_EQ(counts.sum(), 7u);
}

TEST(Histogram, IsAddedToByManyThreads)
{
    histogram all;
    std::vector<std::thread> threads;
    for (int number = 0; number < 4; ++number) {
        threads.emplace_back([&] {
            for (int time = 0; time < 10'000; ++time) {
                all.add(ns(time));
            }
        });
    }
    for (std::thread &each : threads) {
        each.join();
    }
    EXPECT_EQ(all.counts().times(), 40'000u);
    EXPECT_EQ(all.counts().sum(), 4u * 9'999 * 10'000 / 2);
}

} // namespace
