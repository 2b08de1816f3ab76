#include "flux/insight/live_experiment.hpp"

#include "flux/sleep.hpp"
#include "../support/running_source.hpp"
#include "../support/patience.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;

TEST(LiveExperiment, ItsPlanIsReadFromText)
{
    EXPECT_EQ(flux::parse_experiment("End", sample::program)->percent, 25u);
    EXPECT_EQ(flux::parse_experiment("End=40%", sample::program)->percent, 40u);
    EXPECT_EQ(flux::parse_experiment("End=40", sample::program)->node, flux::node_number{sample::node_End});
    for (const char *const wrong : {"", "Ende", "End=", "End=0%", "End=91%", "End=x", "End=4%%", "End=-4"}) {
        EXPECT_FALSE(flux::parse_experiment(wrong, sample::program)) << wrong;
    }
}

// 1000 flows in so many milliseconds, of which so many were delays.
flux::experiment_slice slice(unsigned percent, std::chrono::milliseconds time, std::chrono::milliseconds delays)
{
    return {percent, time, delays, 1000, {1000, time}};
}

TEST(LiveExperiment, WhatTheFasterNodeGivesIsReadFromPairsOfSlices)
{
    const flux::experiment_gain none = flux::throughput_of({slice(0, 100ms, 0ms)});
    EXPECT_EQ(none.pairs, 0u);
    // Without the delays it is a quarter faster, and half as fast again: with and without, without and with.
    const flux::experiment_gain some = flux::throughput_of(
        {slice(0, 100ms, 0ms), slice(20, 120ms, 40ms), slice(20, 150ms, 50ms), slice(0, 150ms, 0ms)});
    EXPECT_EQ(some.pairs, 2u);
    EXPECT_NEAR(some.mean, (0.25 + 0.5) / 2, 1e-9);
    EXPECT_NEAR(some.error, 0.125, 1e-9);
}

class LiveExperiment : public testing::TestWithParam<flux::strategy_kind>
{
};

INSTANTIATE_TEST_SUITE_P(Each, LiveExperiment,
                         testing::Values(flux::strategy_kind::thread, flux::strategy_kind::pool,
                                         flux::strategy_kind::event),
                         [](const auto &of) { return flux::strategy_name(of.param); });

// Those slices in which the node was faster, or the others.
std::vector<flux::experiment_slice> slices_of(const flux::live_experiment &of, bool faster)
{
    std::vector<flux::experiment_slice> all = of.slices();
    std::erase_if(all, [=](const flux::experiment_slice &each) { return (each.percent != 0) != faster; });
    return all;
}

// What all of them had of delays, as a part of what they had of processors.
double delayed_part(const std::vector<flux::experiment_slice> &all)
{
    std::chrono::duration<double> delays{0};
    std::chrono::duration<double> used{0};
    for (const flux::experiment_slice &each : all) {
        delays += each.delays;
        used += each.used;
    }
    return delays / used;
}

TEST_P(LiveExperiment, InEverySecondSliceWhatTheNodeWorksIsAdded)
{
    sample::work = [](const sample::Listen_out &) {
        compute(flux::running_flow->position() == sample::node_One ? 500us : 10us);
    };
    sample::listen = [](sample::Listen_out &out) {
        out = sample::Listen_out{1, 2, -1};
        return true;
    };
    sample::running_source running(sample::program, sample::source_Listen, GetParam(), 1);
    {
        flux::live_experiment experiment(running.all);
        flux::experiment_plan plan{sample::node_One, 50, 40ms, 8};
        experiment.begin(plan);
        await([&] { return experiment.slices().size() == 8; });
        EXPECT_EQ(slices_of(experiment, true).size(), 4u);
        EXPECT_NE(experiment.json().find("\"node\": \"One\", \"percent\": 50"), std::string::npos);
        experiment.begin({sample::node_One, 50, 20ms, 0});
        const auto adds = [](const flux::experiment_slice &each) { return each.flows != 0 && each.delays > 0ns; };
        const auto adds_nothing = [](const flux::experiment_slice &each) {
            return each.flows != 0 && each.delays == 0ns;
        };
        // What the node has worked in a slice may be added when the next has begun.
        await([&] {
            return std::ranges::any_of(slices_of(experiment, true), adds) &&
                   std::ranges::any_of(slices_of(experiment, false), adds_nothing);
        });
        EXPECT_NE(experiment.json().find("\"left\": null"), std::string::npos);
        // Half of one fiftieth of what processors do, and not of nearly all of it.
        experiment.begin({sample::node_End, 50, 20ms, 0});
        await([&] { return std::ranges::any_of(slices_of(experiment, true), adds); });
        EXPECT_LT(delayed_part(slices_of(experiment, true)), 0.2);
        experiment.end();
    }
    EXPECT_FALSE(running.all.speed_up().is_on());
}

TEST(LiveExperiment, InEverySecondSliceNoFlowIsTimed)
{
    sample::work = [](const sample::Listen_out &) { compute(10us); };
    sample::listen = [](sample::Listen_out &out) {
        out = sample::Listen_out{1, 2, -1};
        return true;
    };
    sample::running_source running(sample::program, sample::source_Listen, flux::strategy_kind::event, 1);
    flux::live_experiment experiment(running.all);
    experiment.begin({.slice = 20ms, .slices = 4, .is_of_profile = true});
    await([&] { return experiment.slices().size() == 4; });
    experiment.end();
    const std::vector<flux::experiment_slice> all = experiment.slices();
    EXPECT_EQ(std::ranges::count(all, false, &flux::experiment_slice::is_timed), 2);
    EXPECT_GT(all.front().used, 0ns);
    EXPECT_FALSE(running.all.times().leaves_out());
}

// Who waits for a constraint owes nothing, as whoever has it pays. So what that owes is paid before it lets go.
TEST(LiveExperiment, WhoHoldsAConstraintPaysBeforeItLetsGo)
{
    constexpr auto delay = 20ms;
    std::atomic<bool> is_followed{false};
    std::optional<stopwatch> left; // in the constraint
    std::atomic<bool> has_entered{false};
    bool has_paid = false;
    flux::runners *all = nullptr;
    sample::work = [&](const sample::Listen_out &) {
        if (flux::running_flow->position() != sample::node_One || !is_followed || has_entered) {
            return;
        }
        if (left) {
            has_paid = left->has_passed(delay);
            has_entered = true;
            return;
        }
        flux::sleep_for(30ms); // the other probably waits by then
        const std::size_t elsewhere = all->speed_up().read().processor + 1;
        all->speed_up().worked(delay, &elsewhere);
        left.emplace();
    };
    sample::listen = [](sample::Listen_out &out) {
        out = sample::Listen_out{1, 2, -1};
        return true;
    };
    sample::running_source running(sample::program, sample::source_Listen, flux::strategy_kind::pool, 2);
    all = &running.all;
    all->speed_up().begin(sample::node_End);
    all->speed_up().set_part(1);
    all->follow_all(true);
    // Of those that are not followed two are in progress at most.
    await([&, before = all->flows_ended()] { return all->flows_ended() >= before + 4; });
    is_followed = true;
    await([&] { return has_entered.load(); });
    EXPECT_TRUE(has_paid);
    all->follow_all(false);
    all->speed_up().end();
}

} // namespace
