#include "flux/flow/flow_timing.hpp"

#include "flux/flow/flow_times.hpp"
#include "flux/sleep.hpp"
#include "../support/running_source.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <string>

namespace {

using namespace std::chrono_literals;
using flux::divided_counts;
using flux::time_kind;

// How long those of a kind took, at this part of them.
std::chrono::nanoseconds time_of(const divided_counts &of, time_kind kind, double part = 0.5)
{
    return std::chrono::nanoseconds(of.of[static_cast<std::size_t>(kind)].quantile_ns(part));
}

const divided_counts &of_node(const std::vector<divided_counts> &all, sample::node node)
{
    return *std::ranges::find(all, std::size_t{node}, &divided_counts::number);
}

void spin(std::chrono::nanoseconds time)
{
    const auto begin = flux::clock::now();
    while (flux::clock::now() - begin < time) {
    }
}

class FlowTiming : public testing::TestWithParam<flux::strategy_kind>
{
};

INSTANTIATE_TEST_SUITE_P(Each, FlowTiming,
                         testing::Values(flux::strategy_kind::thread, flux::strategy_kind::pool,
                                         flux::strategy_kind::event),
                         [](const auto &of) { return flux::strategy_name(of.param); });

TEST_P(FlowTiming, ANodesTimeIsDividedByWhatItGoesTo)
{
    constexpr int count = 16;
    std::atomic<int> begun{0};
    std::atomic<int> held{0};
    sample::work = [&](const sample::Listen_out &) {
        if (flux::running_flow->position() == sample::node_Begin) {
            spin(1ms);
            ++begun;
        } else if (flux::running_flow->position() == sample::node_One) {
            // Another flow is about to wait for the constraint; the last one is alone.
            const int others = std::min(++held + 1, count);
            while (begun < others) {
                EXPECT_EQ(flux::sleep_for(1ms), 0);
            }
            EXPECT_EQ(flux::sleep_for(4ms), 0);
        }
    };
    sample::listen = sample::flows(count, [](int) { return sample::Listen_out{1, 2, -1}; });
    sample::running_source running(sample::program, sample::source_Listen, GetParam(), 4);
    running.await_finished(count);
    const auto nodes = running.all.times().of_nodes();
    const divided_counts &begin = of_node(nodes, sample::node_Begin);
    EXPECT_EQ(begin.whole.times(), 16u);
    EXPECT_GE(time_of(begin, time_kind::ran), 980us);
    EXPECT_EQ(time_of(begin, time_kind::parked, 1), 0ns);
    const divided_counts &one = of_node(nodes, sample::node_One);
    EXPECT_GE(time_of(one, time_kind::parked), 3900us);
    EXPECT_LT(time_of(one, time_kind::ran), 2ms);
    // One flow after the other has the constraint; of a busy machine's threads some come to it late.
    EXPECT_GE(time_of(one, time_kind::waited, 1), 2ms);
    EXPECT_EQ(time_of(of_node(nodes, sample::node_End), time_kind::waited, 1), 0ns);
}

TEST_P(FlowTiming, WhatItGoesToIsTheLifeOfAFlow)
{
    constexpr int count = 20;
    flux::moment begin;
    std::chrono::nanoseconds lives{0};
    sample::work = [&](const sample::Listen_out &) {
        if (flux::running_flow->position() == sample::node_Begin) {
            begin = flux::clock::now();
            spin(2ms);
        } else if (flux::running_flow->position() == sample::node_One) {
            EXPECT_EQ(flux::sleep_for(5ms), 0);
        } else {
            spin(1ms);
            lives += flux::clock::now() - begin;
        }
    };
    sample::listen = sample::flows(count, [](int) { return sample::Listen_out{1, 2, -1}; });
    sample::running_source running(sample::program, sample::source_Listen, GetParam(), 1);
    running.await_finished(count);
    const auto sources = running.all.times().of_sources();
    ASSERT_EQ(sources.size(), 1u);
    const divided_counts &flows = sources.front();
    EXPECT_EQ(flows.whole.times(), 20u);
    std::uint64_t parts = 0;
    for (const flux::time_counts &each : flows.of) {
        parts += each.sum_ns();
    }
    EXPECT_EQ(parts, flows.whole.sum_ns());
    // All but the queue in front of a thread is between what the nodes have measured.
    const auto queued = flows.of[static_cast<std::size_t>(time_kind::queued)].sum_ns();
    EXPECT_GE(parts - queued, static_cast<std::uint64_t>(lives.count()));
    constexpr std::chrono::nanoseconds interrupted = 20ms; // between two nodes
    EXPECT_LE(parts - queued, static_cast<std::uint64_t>((lives + lives / 100 + interrupted).count()));
}

TEST(TimedFlows, AreAllAtFirstAndThenFewer)
{
    flux::timed_flows timed;
    int count = 0;
    for (int flow = 0; flow < 64; ++flow) {
        count += timed.next() ? 1 : 0;
    }
    EXPECT_EQ(count, 64);
    for (int flow = 0; flow < 1'000'000; ++flow) {
        timed.next();
    }
    count = 0;
    for (int flow = 0; flow < 127'000; ++flow) {
        count += timed.next() ? 1 : 0;
    }
    EXPECT_EQ(count, 1000);
}

} // namespace
