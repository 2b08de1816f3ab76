#include "flux/flow/belongings.hpp"

#include "../support/seeds.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace {

class belonging final : public flux::belonging
{
  public:
    bool forgotten = true;
    int ends = 0;

  private:
    bool flow_has_ended() noexcept override
    {
        ++ends;
        return forgotten;
    }
};

TEST(Belongings, WhatIsTakenOutLeavesTheOthersWhereTheyAre)
{
    for (const std::uint64_t seed : each_seed(200)) {
        std::mt19937 dice(static_cast<unsigned>(seed));
        std::array<belonging, 5> all;
        std::vector<belonging *> inside;
        flux::belongings of_flow;
        for (belonging &each : all) {
            of_flow.add(each);
            inside.push_back(&each);
        }
        for (std::size_t times = dice() % (all.size() + 1); times != 0; --times) {
            const auto chosen = inside.begin() + static_cast<std::ptrdiff_t>(dice() % inside.size());
            of_flow.remove(**chosen);
            inside.erase(chosen);
        }
        EXPECT_EQ(of_flow.empty(), inside.empty());
        EXPECT_EQ(of_flow.end(), inside.size());
        EXPECT_TRUE(of_flow.empty());
        for (const belonging &each : all) {
            EXPECT_EQ(each.ends, std::ranges::count(inside, &each));
        }
    }
}

TEST(Belongings, OnlyWhatWasForgottenIsCounted)
{
    std::array<belonging, 3> all;
    all[1].forgotten = false;
    flux::belongings of_flow;
    for (belonging &each : all) {
        of_flow.add(each);
    }
    EXPECT_EQ(of_flow.end(), 2u);
    EXPECT_EQ(of_flow.end(), 0u);
}

} // namespace
