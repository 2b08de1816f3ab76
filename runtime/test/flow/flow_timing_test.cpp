#include "flux/flow/flow_timing.hpp"

#include "flux/flow/flow_times.hpp"
#include "flux/processor_use.hpp"
#include "flux/sleep.hpp"
#include "../support/running_source.hpp"
#include "../support/patience.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <sched.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;
using flux::divided_counts;
using flux::time_kind;

// How long those of a kind took, at this part of them.
std::chrono::nanoseconds time_of(const divided_counts &of, time_kind kind, double part = 0.5)
{
    return std::chrono::nanoseconds(of.of[static_cast<std::size_t>(kind)].quantile(part));
}

std::chrono::nanoseconds sum_of(const divided_counts &of, time_kind kind)
{
    return std::chrono::nanoseconds(of.of[static_cast<std::size_t>(kind)].sum());
}

std::chrono::nanoseconds sum_of(const divided_counts &of, flux::park_reason reason)
{
    return std::chrono::nanoseconds(of.parked_for[static_cast<std::size_t>(reason)].sum());
}

const divided_counts &of_node(const std::vector<divided_counts> &all, sample::node node)
{
    return *std::ranges::find(all, std::size_t{node}, &divided_counts::number);
}

class FlowTiming : public testing::TestWithParam<flux::strategy_kind>
{
};

INSTANTIATE_TEST_SUITE_P(Each, FlowTiming,
                         testing::Values(flux::strategy_kind::thread, flux::strategy_kind::pool,
                                         flux::strategy_kind::event),
                         [](const auto &of) { return flux::strategy_name(of.param); });

// How long the process has had processors since this was made: no less than any of its nodes.
class process_use
{
  public:
    std::chrono::nanoseconds so_far() const { return flux::processor_use::of_process().time - before_; }

  private:
    const std::chrono::nanoseconds before_ = flux::processor_use::of_process().time;
};

// Flows of which one after the other has the constraint; whether any was seen to wait for it.
bool expect_nodes_are_divided(flux::strategy_kind strategy)
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
            await_parked([&] { return begun >= others; });
            EXPECT_EQ(flux::sleep_for(4ms), 0);
        }
    };
    sample::listen = sample::flows(count, [](int) { return sample::Listen_out{1, 2, -1}; });
    const process_use use;
    sample::running_source running(sample::program, sample::source_Listen, strategy, 4);
    running.await_finished(count);
    const auto nodes = running.all.times().of_nodes();
    const divided_counts &begin = of_node(nodes, sample::node_Begin);
    EXPECT_EQ(begin.whole.times(), 16u);
    EXPECT_GE(sum_of(begin, time_kind::ran) + sum_of(begin, time_kind::queued), 16ms);
    // But for what the kernel of a busy machine may take of it.
    EXPECT_EQ(sum_of(begin, time_kind::parked), sum_of(begin, flux::park_reason::kernel));
    const divided_counts &one = of_node(nodes, sample::node_One);
    EXPECT_GT(sum_of(one, flux::park_reason::sleep), 0ns);
    EXPECT_LE(sum_of(one, time_kind::ran), use.so_far());
    EXPECT_EQ(time_of(of_node(nodes, sample::node_End), time_kind::waited, 1), 0ns);
    return time_of(one, time_kind::waited, 1) >= 2ms;
}

TEST_P(FlowTiming, ANodesTimeIsDividedByWhatItGoesTo)
{
    // Threads of a busy machine may all come late to the constraint, but not every time.
    await([] { return expect_nodes_are_divided(GetParam()); });
}

// Flows that compute, sleep and wait for one another. Their lives begin after they are made and end before the last is
// waited for, and in between are times that each of them takes at least.
void expect_parts_are_lives(flux::strategy_kind strategy, std::size_t at_once)
{
    constexpr int count = 20;
    sample::work = [&](const sample::Listen_out &) {
        if (flux::running_flow->position() == sample::node_Begin) {
            spin(2ms);
        } else if (flux::running_flow->position() == sample::node_One) {
            EXPECT_EQ(flux::sleep_for(5ms), 0);
        } else {
            spin(1ms);
        }
    };
    sample::listen = sample::flows(count, [&](int number) { return sample::Listen_out{1, 2, -1, number}; });
    const stopwatch since;
    sample::running_source running(sample::program, sample::source_Listen, strategy, at_once);
    running.await_finished(count);
    const auto sources = running.all.times().of_sources();
    ASSERT_EQ(sources.size(), 1u);
    const divided_counts &flows = sources.front();
    EXPECT_EQ(flows.whole.times(), 20u);
    const std::chrono::nanoseconds lives(flows.whole.sum());
    EXPECT_GE(lives, count * 8ms);
    EXPECT_TRUE(since.has_passed(lives / at_once)) << "so many are alive at a time, and no more";
    std::uint64_t parts = 0;
    for (const flux::histogram_counts &each : flows.of) {
        parts += each.sum();
    }
    EXPECT_EQ(parts, flows.whole.sum());
    const auto paths = running.all.times().of_paths().counts();
    ASSERT_EQ(paths.size(), 1u) << "they all took one";
    EXPECT_EQ(paths.front().whole.sum(), flows.whole.sum());
}

TEST_P(FlowTiming, WhatItGoesToIsTheLifeOfAFlow)
{
    for (const std::size_t at_once : {1u, 4u}) {
        expect_parts_are_lives(GetParam(), at_once);
    }
}

// Whether nodes were seen to wait for a processor.
bool expect_nodes_run_when_processors_do(flux::strategy_kind strategy)
{
    // More threads than processors run at once: half of them have to wait at least once.
    const int count = static_cast<int>(2 * std::thread::hardware_concurrency());
    std::atomic<int> begun{0};
    sample::work = [&](const sample::Listen_out &) {
        if (flux::running_flow->position() == sample::node_Begin) {
            ++begun;
            const hang_limit limit;
            while (begun != count) { // without a sleep, for which whatever the node lacks would count
                limit.check();
            }
            compute(40ms);
        }
    };
    sample::listen = sample::flows(count, [](int) { return sample::Listen_out{1, 2, -1}; });
    const auto workers = static_cast<std::size_t>(count);
    const process_use use;
    sample::running_source running(sample::program, sample::source_Listen, strategy, workers, workers);
    running.await_finished(static_cast<std::uint64_t>(count));
    const auto nodes = running.all.times().of_nodes();
    const divided_counts &begin = of_node(nodes, sample::node_Begin);
    const std::chrono::nanoseconds ran = sum_of(begin, time_kind::ran);
    EXPECT_GE(ran, count * 40ms);
    EXPECT_LE(ran, use.so_far());
    EXPECT_GE(sum_of(begin, time_kind::queued) + sum_of(begin, flux::park_reason::kernel), 20ms);
    return sum_of(begin, time_kind::queued) >= 20ms;
}

TEST_P(FlowTiming, ANodeRunsWhenAProcessorDoes)
{
    // To the kernel a process that is stopped sleeps, but that is not every time.
    await([] { return expect_nodes_run_when_processors_do(GetParam()); });
}

TEST_P(FlowTiming, ASleepThatNobodySeesIsParked)
{
    sample::work = [](const sample::Listen_out &) {
        if (flux::running_flow->position() == sample::node_Begin) {
            sleep_uncaught(20ms);
        }
    };
    sample::listen = sample::flows(1, [](int) { return sample::Listen_out{1, 2, -1}; });
    const process_use use;
    sample::running_source running(sample::program, sample::source_Listen, GetParam(), 1);
    running.await_finished(1);
    const auto nodes = running.all.times().of_nodes();
    const divided_counts &begin = of_node(nodes, sample::node_Begin);
    EXPECT_GE(time_of(begin, time_kind::parked), 19ms);
    EXPECT_EQ(sum_of(begin, flux::park_reason::kernel), sum_of(begin, time_kind::parked));
    EXPECT_LE(sum_of(begin, time_kind::ran), use.so_far());
}

// One sleeps while another has their only loop, for longer, where it has not come first.
TEST(FlowTimingOfLoops, WhoCanGoOnAndWaitsForItsLoopIsNotParkedAnyMore)
{
    bool sleeps = false;
    bool is_waited_for = false;
    sample::work = [&](const sample::Listen_out &of) {
        if (flux::running_flow->position() == sample::node_Begin && of.successes == 0) {
            sleeps = true;
            EXPECT_EQ(flux::sleep_for(50ms), 0);
            sleeps = false;
        } else if (flux::running_flow->position() == sample::node_Begin) {
            is_waited_for = sleeps;
            spin(150ms);
        }
    };
    sample::listen = sample::flows(2, [](int number) { return sample::Listen_out{1, 2, -1, number}; });
    sample::running_source running(sample::program, sample::source_Listen, flux::strategy_kind::event, 2, 1);
    running.await_finished(2);
    const auto nodes = running.all.times().of_nodes();
    const divided_counts &begin = of_node(nodes, sample::node_Begin);
    EXPECT_GT(sum_of(begin, flux::park_reason::sleep), 0ms);
    EXPECT_LE(sum_of(begin, flux::park_reason::sleep), 50ms);
    EXPECT_TRUE(!is_waited_for || sum_of(begin, time_kind::queued) >= 20ms);
}

// What computes for long, or does much I/O without waiting, gives way in the middle of its node.
TEST(FlowTimingOfLoops, WhoLetsOthersGoOnDoesNotRunMeanwhile)
{
    constexpr int flows = 3;
    int begun = 0; // on the one loop
    sample::work = [&](const sample::Listen_out &) {
        if (flux::running_flow->position() == sample::node_Begin) {
            ++begun;
            await_parked([&] { return begun == flows; });
            for (int part = 0; part < 5; ++part) {
                compute(4ms);
                EXPECT_EQ(part % 2 == 0 ? flux::refill_io_budget(flux::never) : sched_yield(), 0);
            }
        }
    };
    sample::listen = sample::flows(flows, [](int) { return sample::Listen_out{1, 2, -1}; });
    const process_use use;
    sample::running_source running(sample::program, sample::source_Listen, flux::strategy_kind::event, flows, 1);
    running.await_finished(flows);
    const auto nodes = running.all.times().of_nodes();
    const divided_counts &begin = of_node(nodes, sample::node_Begin);
    EXPECT_GE(sum_of(begin, time_kind::ran), flows * 5 * 4ms);
    EXPECT_LE(sum_of(begin, time_kind::ran), use.so_far());
    EXPECT_GE(sum_of(begin, time_kind::queued), flows * 5 * 2ms);
}

TEST(TimedFlows, AreAllAtFirstAndThenFewer)
{
    flux::timed_flows timed(flux::timed_flows::rarest, std::chrono::nanoseconds(0));
    for (int flow = 0; flow < 64; ++flow) {
        EXPECT_EQ(timed.next(), 1u);
    }
    std::uint64_t flows = 64;
    std::uint64_t stood_for = 64;
    for (; flows < 1'000'000; ++flows) {
        stood_for += timed.next();
    }
    EXPECT_LE(stood_for, flows);
    EXPECT_GT(stood_for, flows - flux::timed_flows::rarest);
    int count = 0;
    for (int flow = 0; flow < 251'000; ++flow) {
        const std::uint32_t now = timed.next();
        EXPECT_TRUE(now == 0 || now == 251);
        count += now == 0 ? 0 : 1;
    }
    EXPECT_EQ(count, 1000);
}

TEST(TimedFlows, AreFewerOfFastFlows)
{
    const auto rarest_of = [](std::chrono::nanoseconds rest) {
        flux::timed_flows timed(flux::timed_flows::rarest, rest);
        std::uint32_t rarest = 0;
        for (int flow = 0; flow < 100'000; ++flow) {
            rarest = std::max(rarest, timed.next());
        }
        return rarest;
    };
    EXPECT_EQ(rarest_of(std::chrono::hours(1)), 1009u);
    EXPECT_EQ(rarest_of(std::chrono::nanoseconds(1)), 251u);
}

TEST(TimedFlows, AreAllWhereThatIsAsked)
{
    flux::timed_flows timed(1);
    for (int flow = 0; flow < 1000; ++flow) {
        ASSERT_EQ(timed.next(), 1u);
    }
}

} // namespace
