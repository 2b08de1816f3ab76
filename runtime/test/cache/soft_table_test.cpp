#include "flux/cache/soft_table.hpp"

#include <gtest/gtest.h>
#include <random>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;

const flux::moment start = flux::moment() + 1h;

TEST(SoftTable, KeepsValuesByTheirKeys)
{
    flux::soft_table<std::string, int> table(100, 0ms);
    EXPECT_EQ(table.get("a", start), std::nullopt);
    EXPECT_EQ(table.put("a", 1, start), std::nullopt);
    EXPECT_EQ(table.put("b", 2, start), std::nullopt);
    EXPECT_EQ(table.put("a", 3, start), 1);
    EXPECT_EQ(table.get("a", start + 1000h), 3) << "it is kept for ever";
    EXPECT_EQ(table.all(start), (std::map<std::string, int>{{"a", 3}, {"b", 2}}));
    EXPECT_EQ(table.take("a", start), 3);
    EXPECT_EQ(table.take("a", start), std::nullopt);
    EXPECT_EQ(table.size(start), 1u);
}

TEST(SoftTable, ForgetsWhatWasUsedLeastRecentlyWhereItIsFull)
{
    flux::soft_table<int, int> table(3, 0ms);
    for (const int key : {1, 2, 3}) {
        table.put(key, 10 * key, start);
    }
    EXPECT_EQ(table.get(1, start), 10);
    table.put(2, 21, start);
    table.put(4, 40, start);
    EXPECT_EQ(table.all(start), (std::map<int, int>{{1, 10}, {2, 21}, {4, 40}}));
}

TEST(SoftTable, ForgetsWhatWasNotUsedForSoLong)
{
    flux::soft_table<int, int> table(100, 50ms);
    table.put(1, 10, start);
    table.put(2, 20, start);
    EXPECT_EQ(table.get(1, start + 40ms), 10);
    EXPECT_EQ(table.size(start + 60ms), 1u);
    EXPECT_EQ(table.all(start + 60ms), (std::map<int, int>{{1, 10}}));
    EXPECT_EQ(table.get(2, start + 60ms), std::nullopt);
    EXPECT_EQ(table.put(2, 21, start + 60ms), std::nullopt);
    EXPECT_EQ(table.get(1, start + 90ms), std::nullopt) << "its time is over at that very moment";
    EXPECT_EQ(table.get(2, start + 109ms), 21);
}

TEST(SoftTable, GivesAllThatItIsToForget)
{
    flux::soft_table<int, int> table(10'000, 0ms);
    for (int key = 0; key < 1000; ++key) {
        table.put(key, key, start);
    }
    EXPECT_EQ(table.take_all(start).size(), 1000u);
    EXPECT_EQ(table.size(start), 0u);
    EXPECT_EQ(table.put(7, 8, start), std::nullopt);
}

TEST(SoftTable, IsBoundedHoweverManyKeysCome)
{
    flux::soft_table<int, int> table(5000, 0ms);
    for (int key = 0; key < 50'000; ++key) {
        table.put(key, key, start);
    }
    EXPECT_LE(table.size(start), 5000u);
    EXPECT_GE(table.size(start), 4500u) << "its shards are full";
}

TEST(SoftTable, IsUsedByManyThreads)
{
    flux::soft_table<int, long> table(8192, 0ms);
    std::vector<std::thread> all;
    for (int thread = 0; thread < 4; ++thread) {
        all.emplace_back([&, thread] {
            std::minstd_rand random(static_cast<unsigned>(thread) + 1);
            for (int round = 0; round < 20'000; ++round) {
                // Nobody else has this thread's keys.
                const int key = static_cast<int>(random() % 500) * 4 + thread;
                const std::optional<long> before = table.get(key, start);
                EXPECT_EQ(table.put(key, before.value_or(0) + 1, start), before);
            }
        });
    }
    for (std::thread &thread : all) {
        thread.join();
    }
    long sum = 0;
    for (const auto &[key, count] : table.all(start)) {
        sum += count;
    }
    EXPECT_EQ(sum, 80'000);
}

} // namespace
