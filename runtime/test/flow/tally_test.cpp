#include "flux/flow/tally.hpp"

#include "../support/lack_of_memory.hpp"

#include <gtest/gtest.h>
#include <map>
#include <thread>

namespace {

std::map<std::uint64_t, std::uint64_t> contents(const flux::tally_table &table)
{
    std::map<std::uint64_t, std::uint64_t> found;
    table.visit([&](std::uint64_t key, std::uint64_t count) { found[key] += count; });
    return found;
}

TEST(Tally, Counts)
{
    flux::tally count;
    EXPECT_EQ(count.value(), 0u);
    count.add(1);
    count.add(41);
    EXPECT_EQ(count.value(), 42u);
}

TEST(Tally, WhoReadsAValueSeesWhatWasCountedBefore)
{
    constexpr std::uint64_t rounds = 100'000;
    flux::tally first;
    flux::tally second;
    std::thread writer([&] {
        for (std::uint64_t round = 0; round < rounds; ++round) {
            first.add(1);
            second.add(1);
        }
    });
    for (std::uint64_t seen = 0; seen < rounds;) {
        seen = second.value();
        ASSERT_GE(first.value(), seen);
    }
    writer.join();
}

TEST(TallyTable, CountsByKey)
{
    flux::tally_table table;
    table.add(7);
    table.add(~std::uint64_t{0}, 3);
    table.add(7, 2);
    EXPECT_EQ(contents(table), (std::map<std::uint64_t, std::uint64_t>{{7, 3}, {~std::uint64_t{0}, 3}}));
    EXPECT_EQ(table.lost(), 0u);
}

TEST(TallyTable, IsReadWhileItGrows)
{
    constexpr std::uint64_t keys = 5'000;
    flux::tally_table table;
    std::thread writer([&] {
        for (std::uint64_t key = 0; key < keys; ++key) {
            table.add(key, key + 1);
        }
    });
    std::size_t seen = 0;
    while (seen < keys) {
        const auto now = contents(table);
        ASSERT_GE(now.size(), seen) << "what was counted stays";
        seen = now.size();
        for (const auto &[key, count] : now) {
            ASSERT_EQ(count, key + 1);
        }
    }
    writer.join();
}

TEST(TallyTable, WhatFindsNoMemoryIsCountedAsLostAndTheRestGoesOn)
{
    flux::tally_table table;
    table.add(1, 5);
    {
        const lack_of_memory here;
        table.add(2, 3);
        table.add(1, 2);
        table.add(3);
    }
    table.add(2, 10);
    EXPECT_EQ(contents(table), (std::map<std::uint64_t, std::uint64_t>{{1, 7}, {2, 10}}));
    EXPECT_EQ(table.lost(), 4u);
    table.add_lost(6);
    EXPECT_EQ(table.lost(), 10u);
}

} // namespace
