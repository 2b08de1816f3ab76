#include "flux/flow/reuse_distances.hpp"

#include "flux/constraint/key.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <list>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

using flux::reuse_distances;
using trace = std::vector<std::uint64_t>;

std::uint64_t next_random(std::uint64_t &state)
{
    return flux::scatter(state += 0x9e3779b97f4a7c15);
}

// Keys of which the one of rank r is as likely as 1 / r^skew.
trace zipf(std::size_t keys, double skew, std::size_t uses)
{
    std::vector<double> up_to(keys);
    double sum = 0;
    for (std::size_t rank = 0; rank < keys; ++rank) {
        up_to[rank] = sum += std::pow(static_cast<double>(rank + 1), -skew);
    }
    trace all(uses);
    std::uint64_t state = 7;
    for (std::uint64_t &each : all) {
        const double at = static_cast<double>(next_random(state) >> 11) * 0x1p-53 * sum;
        each = static_cast<std::uint64_t>(std::ranges::upper_bound(up_to, at) - up_to.begin());
    }
    return all;
}

// All keys, one after the other, again and again.
trace scans(std::size_t keys, std::size_t uses)
{
    trace all(uses);
    for (std::size_t use = 0; use < uses; ++use) {
        all[use] = use % keys;
    }
    return all;
}

// The part of uses that a cache of this size has, which drops the key that was used longest ago.
double hits_of_cache(const trace &of, std::size_t size)
{
    std::list<std::uint64_t> kept;
    std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> places;
    std::size_t hits = 0;
    for (const std::uint64_t key : of) {
        if (const auto found = places.find(key); found != places.end()) {
            ++hits;
            kept.splice(kept.begin(), kept, found->second);
            continue;
        }
        kept.push_front(key);
        places[key] = kept.begin();
        if (kept.size() > size) {
            places.erase(kept.back());
            kept.pop_back();
        }
    }
    return static_cast<double>(hits) / static_cast<double>(of.size());
}

// The same as the distances have it.
double hits_by(const flux::reuse_counts &counts, std::size_t size)
{
    double hits = 0;
    double all = static_cast<double>(counts.first_uses);
    for (const flux::step_count &each : counts.distances) {
        const auto times = static_cast<double>(each.times);
        all += times;
        const double part = (static_cast<double>(size) - static_cast<double>(each.begin)) /
                            static_cast<double>(each.end - each.begin);
        hits += times * std::clamp(part, 0.0, 1.0);
    }
    return hits / all;
}

void follow(reuse_distances &by, const trace &keys)
{
    std::uint32_t uses = 0;
    for (const std::uint64_t key : keys) {
        by.add(flux::scatter(key + 1));
        if (++uses % 61 == 0) {
            by.used(61);
        }
    }
}

// How far the hit rate of any of these caches is off at most.
double error(const trace &of, const std::vector<std::size_t> &sizes)
{
    reuse_distances all;
    follow(all, of);
    const flux::reuse_counts counts = all.counts();
    double most = 0;
    for (const std::size_t size : sizes) {
        most = std::max(most, std::abs(hits_by(counts, size) - hits_of_cache(of, size)));
    }
    return most;
}

TEST(ReuseDistances, AreExactWhereAllKeysAreFollowed)
{
    reuse_distances all;
    follow(all, {1, 2, 3, 1, 1, 2});
    const flux::reuse_counts counts = all.counts();
    EXPECT_EQ(counts.first_uses, 3u);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> steps;
    for (const flux::step_count &each : counts.distances) {
        steps.emplace_back(each.begin, each.times);
    }
    const decltype(steps) expected{{0, 1}, {2, 2}};
    EXPECT_EQ(steps, expected);
    EXPECT_LT(error(zipf(1'000, 0.8, 50'000), {1, 10, 100, 900}), 1e-3) << "within a step of the histogram";
}

TEST(ReuseDistances, GiveTheHitRateOfAnyCacheToAFewPercent)
{
    EXPECT_LT(error(zipf(100'000, 0.9, 200'000), {100, 1'000, 10'000, 50'000}), 0.03);
    EXPECT_LT(error(zipf(20'000, 0.6, 200'000), {100, 1'000, 10'000}), 0.03);
}

TEST(ReuseDistances, SeeThatAScanNeedsACacheForAllOfIt)
{
    const trace all = scans(30'000, 300'000);
    EXPECT_LT(error(all, {1'000, 20'000}), 0.03) << "nothing is there still when it is asked for again";
    EXPECT_LT(error(all, {40'000}), 0.03);
}

TEST(ReuseDistances, AreOfLaterUsesToo)
{
    // At first one key; then, behind a rest, two in turns.
    trace keys(reuse_distances::uses_followed, 5);
    for (std::size_t use = 0; use < reuse_distances::uses_followed * (reuse_distances::rest + 1); ++use) {
        keys.push_back(6 + use % 2);
    }
    reuse_distances all;
    follow(all, keys);
    const flux::reuse_counts counts = all.counts();
    ASSERT_EQ(counts.distances.size(), 2u);
    EXPECT_EQ(counts.distances[0].times, reuse_distances::uses_followed - 1);
    EXPECT_GT(counts.distances[1].times, reuse_distances::uses_followed / 2);
    EXPECT_EQ(counts.distances[1].begin, 1u);
}

TEST(ReuseDistances, AnyThreadAddsAndAsks)
{
    reuse_distances all;
    std::vector<std::thread> threads;
    for (int number = 0; number < 4; ++number) {
        threads.emplace_back([&] {
            follow(all, zipf(20'000, 0.9, 20'000));
            EXPECT_LE(all.counts().first_uses, 100'000u);
        });
    }
    for (std::thread &each : threads) {
        each.join();
    }
    // Uses that find another thread there are not seen; the very first one is.
    EXPECT_GT(all.counts().first_uses, 0u);
    EXPECT_LT(hits_by(all.counts(), 1'000'000), 1);
}

} // namespace
