#include "flux/strategy/stragglers.hpp"

#include "../support/sample_program.hpp"

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;

constexpr flux::moment start{1h};

TEST(Stragglers, AreGroupedBySourceAndNodeWhereMostAreFirst)
{
    flux::stragglers left;
    left.begin_look(start);
    left.see(sample::source_Listen, 1, sample::node_One);
    left.see(sample::source_Listen, 2, sample::node_End);
    left.see(sample::source_Listen, 3, sample::node_End);
    left.see(sample::source_Spread, 3, sample::node_One);
    const auto groups = left.groups();
    ASSERT_EQ(groups.size(), 3u);
    EXPECT_EQ(groups[0].node, sample::node_End);
    EXPECT_EQ(groups[0].flows, 2u);
    EXPECT_EQ(groups[1].source, sample::source_Listen);
    EXPECT_EQ(groups[2].source, sample::source_Spread);
    EXPECT_EQ(groups[2].flows, 1u);
}

TEST(Stragglers, TheirTimeBeginsAnewAtEachNode)
{
    flux::stragglers left;
    left.begin_look(start);
    left.see(sample::source_Listen, 1, sample::node_One);
    left.see(sample::source_Listen, 2, sample::node_One);
    left.begin_look(start + 10s);
    left.see(sample::source_Listen, 1, sample::node_End);
    left.see(sample::source_Listen, 2, sample::node_One);
    left.begin_look(start + 30s);
    left.see(sample::source_Listen, 1, sample::node_End);
    left.see(sample::source_Listen, 2, sample::node_One);
    const auto groups = left.groups();
    ASSERT_EQ(groups.size(), 2u);
    EXPECT_EQ(groups[0].node, sample::node_One);
    EXPECT_EQ(groups[0].longest, 30s);
    EXPECT_EQ(groups[1].longest, 20s);
}

TEST(Stragglers, ThoseThatHaveEndedAreNone)
{
    flux::stragglers left;
    left.begin_look(start);
    left.see(sample::source_Listen, 1, sample::node_One);
    left.begin_look(start + 1s);
    EXPECT_TRUE(left.groups().empty());
}

TEST(Stragglers, AreListedByTheirSourcesAndNumbers)
{
    flux::stragglers left;
    left.begin_look(start);
    left.see(sample::source_Spread, 3, sample::node_One);
    left.begin_look(start + 2s);
    left.see(sample::source_Spread, 3, sample::node_One, flux::set_of(1));
    left.see(sample::source_Listen, 2, flux::no_node);
    const auto flows = left.flows();
    ASSERT_EQ(flows.size(), 2u);
    EXPECT_EQ(flows[0].source, sample::source_Listen);
    EXPECT_EQ(flows[0].node, flux::no_node);
    EXPECT_EQ(flows[1].flow, 3u);
    EXPECT_EQ(flows[1].time, 2s);
    EXPECT_EQ(flows[0].holds, 0u);
    EXPECT_EQ(flows[1].holds, 2u) << "what it holds now";
}

TEST(ConstraintSet, HasABitForEachOfTheFirst)
{
    EXPECT_EQ(flux::set_of(0), 1u);
    EXPECT_NE(flux::set_of(61), flux::set_of(62));
    EXPECT_EQ(flux::set_of(63), flux::set_of(64)) << "and one for all others";
}

TEST(Stragglers, AreDescribed)
{
    EXPECT_EQ(flux::describe(sample::program, {sample::source_Listen, sample::node_One, 3, 30040ms}),
              "3 flows of Listen (sample.flux:8) in One (sample.flux:4), for 30.0 s so far");
    EXPECT_EQ(flux::describe(sample::program, {sample::source_Listen, flux::no_node, 1, 0ms}),
              "1 flow of Listen (sample.flux:8) before the first node, for 0.0 s so far");
}

} // namespace
