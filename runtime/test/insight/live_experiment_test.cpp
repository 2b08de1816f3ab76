#include "flux/insight/live_experiment.hpp"

#include "flux/sleep.hpp"
#include "../support/running_source.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <thread>

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

void spin(std::chrono::nanoseconds time)
{
    const auto begin = flux::clock::now();
    while (flux::clock::now() - begin < time) {
    }
}

class LiveExperiment : public testing::TestWithParam<flux::strategy_kind>
{
};

INSTANTIATE_TEST_SUITE_P(Each, LiveExperiment,
                         testing::Values(flux::strategy_kind::thread, flux::strategy_kind::pool,
                                         flux::strategy_kind::event),
                         [](const auto &of) { return flux::strategy_name(of.param); });

// How much of delays there was for each flow in those slices in which the node was faster, or in the others.
std::chrono::nanoseconds delays_of(const std::vector<flux::experiment_slice> &all, bool faster)
{
    std::chrono::nanoseconds delays{0};
    std::uint64_t flows = 0;
    for (const flux::experiment_slice &each : all) {
        if ((each.percent != 0) == faster) {
            delays += each.delays;
            flows += each.flows;
        }
    }
    return delays / std::max<std::uint64_t>(flows, 1);
}

TEST_P(LiveExperiment, InEverySecondSliceWhatTheNodeWorksIsAdded)
{
    sample::work = [](const sample::Listen_out &) {
        spin(flux::running_flow->position() == sample::node_One ? 500us : 10us);
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
        while (experiment.slices().size() < 8) {
            std::this_thread::sleep_for(5ms);
        }
        const std::vector<flux::experiment_slice> all = experiment.slices();
        EXPECT_EQ(std::ranges::count(all, 50u, &flux::experiment_slice::percent), 4);
        EXPECT_GT(delays_of(all, true), 100us);
        EXPECT_LT(delays_of(all, false), 50us);
        EXPECT_EQ(experiment.throughput().pairs, 4u);
        EXPECT_NE(experiment.json().find("\"node\": \"One\", \"percent\": 50"), std::string::npos);
        experiment.begin({sample::node_End, 50, 20ms, 0});
        while (experiment.slices().size() < 4) {
            std::this_thread::sleep_for(5ms);
        }
        EXPECT_LT(delays_of(experiment.slices(), true), 100us);
        EXPECT_NE(experiment.json().find("\"left\": null"), std::string::npos);
        experiment.end();
    }
    EXPECT_FALSE(running.all.speed_up().is_on());
}

TEST(LiveExperiment, InEverySecondSliceNoFlowIsTimed)
{
    sample::work = [](const sample::Listen_out &) { spin(10us); };
    sample::listen = [](sample::Listen_out &out) {
        out = sample::Listen_out{1, 2, -1};
        return true;
    };
    sample::running_source running(sample::program, sample::source_Listen, flux::strategy_kind::event, 1);
    flux::live_experiment experiment(running.all);
    experiment.begin({.slice = 20ms, .slices = 4, .is_of_profile = true});
    while (experiment.slices().size() < 4) {
        std::this_thread::sleep_for(5ms);
    }
    experiment.end();
    const std::vector<flux::experiment_slice> all = experiment.slices();
    EXPECT_EQ(std::ranges::count(all, false, &flux::experiment_slice::is_timed), 2);
    EXPECT_GT(all.front().used, 0ns);
    EXPECT_FALSE(running.all.times().leaves_out());
}

// How much slower all of an experiment is, and longer: a busy machine is late by so much less of it.
struct scaled {
    int by = 1;
    std::chrono::microseconds operator()(std::chrono::microseconds time) const { return by * time; }
};

// Two threads, and a node in a constraint of which only one flow has its turn. Nodes sleep, so they need no processor.
double rate_with(std::chrono::microseconds before, std::chrono::microseconds in_constraint, scaled scale,
                 const std::function<void(sample::running_source &)> &meanwhile)
{
    sample::work = [=](const sample::Listen_out &) {
        const flux::node_number at = flux::running_flow->position();
        const auto time = at == sample::node_One ? in_constraint : at == sample::node_Begin ? before : 300us;
        flux::sleep_for(at == sample::node_Choose ? 0us : scale(time));
    };
    sample::listen = [](sample::Listen_out &out) {
        out = sample::Listen_out{1, 2, -1};
        return true;
    };
    sample::running_source running(sample::program, sample::source_Listen, flux::strategy_kind::pool, 4);
    running.await_finished(4);
    const std::uint64_t flows = running.all.flows_ended();
    const flux::moment begin = flux::clock::now();
    meanwhile(running);
    const std::chrono::duration<double> time = flux::clock::now() - begin;
    return static_cast<double>(running.all.flows_ended() - flows) / time.count();
}

// Who waits for a constraint owes nothing, as whoever has it pays. So what that owes is paid before it lets go.
TEST(LiveExperiment, WhoHoldsAConstraintPaysBeforeItLetsGo)
{
    constexpr auto delay = 20ms;
    std::atomic<bool> is_followed{false};
    std::atomic<flux::moment> left{flux::never};
    std::atomic<flux::moment> entered{flux::never};
    flux::runners *all = nullptr;
    sample::work = [&](const sample::Listen_out &) {
        if (flux::running_flow->position() != sample::node_One || !is_followed) {
            return;
        }
        if (left.load() != flux::never) {
            flux::moment none = flux::never;
            entered.compare_exchange_strong(none, flux::clock::now());
            return;
        }
        flux::sleep_for(30ms); // until the other waits
        const std::size_t elsewhere = all->speed_up().read().processor + 1;
        all->speed_up().worked(delay, &elsewhere);
        left = flux::clock::now();
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
    std::this_thread::sleep_for(20ms); // those that began before have ended
    is_followed = true;
    while (entered.load() == flux::never) {
        std::this_thread::sleep_for(1ms);
    }
    EXPECT_GE(entered.load() - left.load(), delay);
    all->follow_all(false);
    all->speed_up().end();
}

double said_of(sample::node node, sample::running_source &running, scaled scale)
{
    flux::live_experiment experiment(running.all);
    experiment.begin({node, 25, scale.by * 80ms, 8});
    while (experiment.slices().size() < 8) {
        std::this_thread::sleep_for(5ms);
    }
    return experiment.throughput().mean;
}

TEST(LiveExperiment, SaysWhatABottleneckThatIsTrulyFasterGives)
{
    double found = 0;
    double said = 0;
    double said_of_other = 0;
    // Where others have the processors meanwhile, once more, and slower.
    for (scaled scale; scale.by <= 32; scale.by *= 2) {
        const auto wait = [scale](sample::running_source &) { std::this_thread::sleep_for(scale(300ms)); };
        const double before = rate_with(1200us, 4000us, scale, wait);
        found = rate_with(1200us, 3000us, scale, wait) / before;
        rate_with(1200us, 4000us, scale, [&](sample::running_source &running) {
            said = 1 + said_of(sample::node_One, running, scale);
            said_of_other = 1 + said_of(sample::node_Begin, running, scale);
        });
        if (found > 1.2 && std::abs(said / found - 1) <= 0.15 && std::abs(said_of_other - 1) <= 0.06) {
            break;
        }
    }
    EXPECT_GT(found, 1.2);
    EXPECT_NEAR(said / found, 1, 0.15);
    EXPECT_NEAR(said_of_other, 1, 0.06);
    RecordProperty("found", std::to_string(found));
    RecordProperty("said", std::to_string(said) + " and " + std::to_string(said_of_other));
}

} // namespace
