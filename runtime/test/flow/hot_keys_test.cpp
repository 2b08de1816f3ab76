#include "flux/flow/hot_keys.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <thread>
#include <vector>

namespace {

using flux::hot_key;
using flux::hot_keys;

// How often each key comes, of which the one at rank r is as likely as 1 / r to this power.
std::vector<std::uint64_t> zipf(std::size_t keys, double power, int count)
{
    std::vector<double> likely;
    for (std::size_t rank = 1; rank <= keys; ++rank) {
        likely.push_back(std::pow(static_cast<double>(rank), -power));
    }
    std::mt19937_64 random(7);
    std::discrete_distribution<std::uint64_t> draw(likely.begin(), likely.end());
    std::vector<std::uint64_t> all(static_cast<std::size_t>(count));
    std::ranges::generate(all, [&] { return draw(random); });
    return all;
}

TEST(HotKeys, AreExactWhileThereIsRoom)
{
    hot_keys keys;
    EXPECT_TRUE(keys.most().empty());
    for (std::uint64_t key = 0; key < hot_keys::kept; ++key) {
        for (std::uint64_t time = 0; time <= key; ++time) {
            keys.add(key);
        }
    }
    const std::vector<hot_key> most = keys.most();
    ASSERT_EQ(most.size(), hot_keys::kept);
    for (std::uint64_t at = 0; at < hot_keys::kept; ++at) {
        EXPECT_EQ(most[at].key, hot_keys::kept - 1 - at);
        EXPECT_EQ(most[at].times, hot_keys::kept - at);
        EXPECT_EQ(most[at].surplus, 0u);
    }
}

TEST(HotKeys, AreTooHighByTheirSurplusAtMost)
{
    constexpr int count = 100'000;
    for (const double power : {0.0, 0.6, 0.9, 1.2}) {
        hot_keys keys;
        std::map<std::uint64_t, std::uint64_t> exact;
        for (const std::uint64_t key : zipf(1000, power, count)) {
            keys.add(key);
            ++exact[key];
        }
        std::uint64_t sum = 0;
        const std::vector<hot_key> most = keys.most();
        for (const hot_key &each : most) {
            EXPECT_GE(each.times, exact[each.key]) << power;
            EXPECT_LE(each.times - each.surplus, exact[each.key]) << power;
            EXPECT_LE(each.surplus, count / hot_keys::kept) << power;
            sum += each.times;
        }
        EXPECT_EQ(sum, std::uint64_t{count}) << power;
        for (const auto &[key, times] : exact) {
            const bool has_count = std::ranges::find(most, key, &hot_key::key) != most.end();
            EXPECT_TRUE(has_count || times <= count / hot_keys::kept) << power << ": " << key;
        }
    }
}

TEST(HotKeys, OfAnyThread)
{
    hot_keys keys;
    std::vector<std::thread> threads;
    for (std::uint64_t key = 0; key < 4; ++key) {
        threads.emplace_back([&keys, key] {
            for (int time = 0; time < 10'000; ++time) {
                keys.add(key);
                if (time % 1000 == 0) {
                    keys.most();
                }
            }
        });
    }
    for (std::thread &each : threads) {
        each.join();
    }
    for (const hot_key &each : keys.most()) {
        EXPECT_EQ(each.times, 10'000u);
    }
}

} // namespace
