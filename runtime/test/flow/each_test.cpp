/// \file
/// Each steps on every strategy: what comes of their instances, how many run at once, in which order they begin.

#include "flux/flow/each.hpp"

#include "flux/process/crash.hpp"
#include "../support/running_source.hpp"
#include "../support/patience.hpp"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <thread>

namespace {

using namespace std::chrono_literals;
using flux::outcome;
using flux::strategy_kind;

// The program of these tests, by hand:
//
//     Start () => (int flow);
//     source Start => Main;
//     Main = [A](width);

enum node : flux::node_number { node_Start, node_A };
enum function : flux::function_number { function_A, function_Main, function_Start_produce };

struct Start_out {
    int flow;
};

struct A_in {
    int flow;
    int place;
};

struct A_out {
    int twice;
};

/// What an instance does, the test's choice.
std::function<outcome(flux::flow &, const A_in &)> work;
/// What the flow does after them.
std::function<void(flux::flow &, int flow, outcome, const std::vector<A_out> &)> joined;
/// How many elements the list of a flow has, and how many run at once.
std::function<std::size_t(int flow)> elements;
std::int64_t width = 0;
int wanted_flows = 0;
int made_flows = 0;

outcome instance_of_A(flux::flow &flow, A_in &in, A_out &out)
{
    flow.call(node_A);
    const outcome exit = work(flow, in);
    out.twice = 2 * in.place;
    if (exit == outcome::failed) {
        flow.failed_in(node_A, 100 + in.place);
        return flow.failed();
    }
    return exit == outcome::ended ? flow.ended() : flow.done();
}

outcome Main(flux::flow &flow, Start_out &in)
{
    std::vector<A_in> inputs;
    for (std::size_t place = 0; place < elements(in.flow); ++place) {
        inputs.push_back({in.flow, static_cast<int>(place)});
    }
    std::vector<A_out> outputs(inputs.size());
    const outcome exit = flux::each(flow, function_A, width, instance_of_A, inputs.size(), inputs, outputs);
    EXPECT_EQ(flux::running_flow, &flow);
    if (joined) {
        joined(flow, in.flow, exit, outputs);
    }
    return exit == outcome::done ? flow.done() : exit == outcome::failed ? flow.failed() : flow.ended();
}

outcome Start_produce(flux::flow &flow, Start_out &out)
{
    flow.call(node_Start);
    if (made_flows == wanted_flows) {
        sample::nothing_comes();
        return flow.failed();
    }
    out.flow = made_flows++;
    return flow.done();
}

constexpr flux::node_info nodes[] = {{"Start", "a.flux", 1}, {"A", "a.flux", 2}};
constexpr flux::source_info sources[] = {
    flux::make_source<Start_produce, Main>({"Start", "a.flux", 7}, function_Start_produce, function_Main)};
// Nobody reads paths back here, so their graph has no edges.
constexpr flux::path_vertex vertices[] = {{flux::path_kind::start, nullptr, 0, 0, 0}};
constexpr flux::path_function functions[] = {
    {"A", {1, 1, 1}, {0, 0, 0}}, {"Main", {1, 1, 1}, {0, 0, 0}}, {"Start_produce", {1, 1, 0}, {0, 0, 0}}};
constexpr flux::program tested{"test", nodes, {}, sources, functions, vertices, {}};

/// How a test runs its flows.
struct setting {
    const char *name;
    strategy_kind kind;
    std::size_t workers;
};

class Each : public testing::TestWithParam<setting>
{
  protected:
    void SetUp() override
    {
        work = [](flux::flow &, const A_in &) { return outcome::done; };
        joined = nullptr;
        elements = [](int flow) { return static_cast<std::size_t>(flow); };
        width = 4;
    }

    /// Runs so many flows; gives what was counted.
    flux::path_counts run(int count)
    {
        wanted_flows = count;
        made_flows = 0;
        sample::running_source running(tested, 0, GetParam().kind, 8, GetParam().workers);
        running.await_finished(static_cast<std::uint64_t>(count), 0);
        return running.all.total();
    }
};

/// How many instances came back by an exit.
std::uint64_t taken(const flux::path_counts &counts, outcome exit)
{
    std::uint64_t taken = 0;
    const flux::path_tables &tables = *counts.function_paths(function_A);
    tables[flux::index_of(exit)].visit([&](flux::path_number number, std::uint64_t times) {
        EXPECT_EQ(number, 0u);
        taken += times;
    });
    return taken;
}

TEST_P(Each, EveryElementHasItsInstanceAndWhatItGaveIsInItsPlace)
{
    for (const std::int64_t at_once : {1, 2, 4, 100}) {
        width = at_once;
        std::atomic<int> checked{0};
        joined = [&](flux::flow &flow, int number, outcome exit, const std::vector<A_out> &outputs) {
            EXPECT_EQ(exit, outcome::done);
            EXPECT_EQ(outputs.size(), static_cast<std::size_t>(number));
            for (std::size_t place = 0; place < outputs.size(); ++place) {
                EXPECT_EQ(outputs[place].twice, 2 * static_cast<int>(place));
            }
            EXPECT_EQ(flow.path(), 0u);
            ++checked;
        };
        const flux::path_counts counts = run(20);
        EXPECT_EQ(checked, 20);
        EXPECT_EQ(taken(counts, outcome::done), 190u);
        EXPECT_EQ(counts.of_source(0).counted.calls - counts.of_source(0).nothing, 20u + 190u);
    }
}

TEST_P(Each, TheFirstInTheListThatFailedDecidesElseOneThatEnded)
{
    elements = [](int) { return std::size_t{9}; };
    const auto exit_of = [](int flow, int place) {
        const bool fails = flow % 3 == 1 && place >= flow % 7 && place != 8;
        return fails ? outcome::failed : flow % 3 != 0 && place == 8 ? outcome::ended : outcome::done;
    };
    work = [&](flux::flow &, const A_in &in) {
        std::this_thread::yield();
        return exit_of(in.flow, in.place);
    };
    std::atomic<int> checked{0};
    joined = [&](flux::flow &flow, int number, outcome exit, const std::vector<A_out> &) {
        constexpr outcome expected[] = {outcome::done, outcome::failed, outcome::ended};
        EXPECT_EQ(exit, expected[number % 3]) << number;
        if (exit == outcome::failed) {
            EXPECT_EQ(flow.error(), 100 + number % 7) << number;
            EXPECT_EQ(flow.failed_node(), node_A);
        }
        ++checked;
    };
    const flux::path_counts counts = run(21);
    EXPECT_EQ(checked, 21);
    // Every instance ran, whatever became of the others.
    EXPECT_EQ(taken(counts, outcome::done) + taken(counts, outcome::failed) + taken(counts, outcome::ended), 21u * 9);
    EXPECT_EQ(counts.of_source(0).finished, (std::array<std::uint64_t, 3>{7, 7, 7}));
}

TEST_P(Each, NoMoreThanTheWidthRunAtOnceAndTheyBeginInOrder)
{
    elements = [](int) { return std::size_t{30}; };
    width = 3;
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    std::atomic<int> begun{0};
    work = [&](flux::flow &, const A_in &in) {
        // All before it have been taken; of those, the two that others have just taken may not have come here yet.
        EXPECT_GE(begun.fetch_add(1), in.place - 2);
        const int now = ++inside;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
        }
        dawdle(1ms);
        --inside;
        return outcome::done;
    };
    run(1);
    EXPECT_EQ(begun, 30);
    EXPECT_LE(most, 3);
}

TEST_P(Each, AWidthThatIsNoneIsOne)
{
    width = 0;
    std::atomic<int> last{-1};
    elements = [](int) { return std::size_t{10}; };
    work = [&](flux::flow &, const A_in &in) {
        EXPECT_EQ(last.exchange(in.place), in.place - 1);
        return outcome::done;
    };
    run(1);
    EXPECT_EQ(last, 9);
}

TEST_P(Each, AnInstanceIsABranchOfItsFlow)
{
    std::atomic<int> checked{0};
    work = [&](flux::flow &flow, const A_in &in) {
        EXPECT_EQ(flux::running_flow, &flow);
        EXPECT_NE(flow.parent(), nullptr);
        EXPECT_EQ(flow.id(), static_cast<std::uint64_t>(in.flow) + 1);
        EXPECT_EQ(flow.position(), node_A);
        EXPECT_EQ(flow.path(), 0u);
        ++checked;
        return outcome::done;
    };
    run(6);
    EXPECT_EQ(checked, 15);
}

TEST_P(Each, InstancesOfInstancesRun)
{
    elements = [](int) { return std::size_t{5}; };
    std::atomic<int> inner{0};
    work = [&](flux::flow &flow, const A_in &in) {
        if (in.place >= 100) {
            ++inner;
            return outcome::done;
        }
        std::vector<A_in> inputs{{in.flow, 100}, {in.flow, 101}, {in.flow, 102}};
        std::vector<A_out> outputs(inputs.size());
        return flux::each(flow, function_A, 2, instance_of_A, inputs.size(), inputs, outputs);
    };
    run(4);
    EXPECT_EQ(inner, 4 * 5 * 3);
}

TEST_P(Each, ACancelledFlowCancelsItsInstances)
{
    elements = [](int) { return std::size_t{6}; };
    width = 2;
    std::atomic<int> cancelled{0};
    std::atomic<bool> is_cancelled{false};
    work = [&](flux::flow &flow, const A_in &in) {
        if (in.place == 0) {
            flow.parent()->cancel();
            is_cancelled = true;
        }
        // The second may have begun beside the first.
        while (!is_cancelled) {
            std::this_thread::yield();
        }
        cancelled += flow.cancelled() ? 1 : 0;
        return outcome::done;
    };
    run(1);
    EXPECT_EQ(cancelled, 6);
}

TEST_P(Each, AFlowThatIsCancelledWhileItsInstancesBeginCancelsAllOfThem)
{
    elements = [](int) { return std::size_t{12}; };
    width = 4;
    const bool has_threads = GetParam().kind == strategy_kind::thread || GetParam().workers == 4;
    for (int round = 0; round < 20; ++round) {
        std::atomic<int> begun{0};
        std::atomic<int> cancelled{0};
        std::atomic<bool> is_cancelled{false};
        work = [&](flux::flow &flow, const A_in &in) {
            ++begun;
            if (in.place == 0) {
                flow.parent()->cancel();
                is_cancelled = true;
            }
            // All four run at once, where there are threads for them.
            while (!is_cancelled || (has_threads && begun < 4)) {
                std::this_thread::yield();
            }
            cancelled += flow.cancelled() ? 1 : 0;
            return outcome::done;
        };
        run(1);
        EXPECT_EQ(cancelled, 12);
    }
}

INSTANTIATE_TEST_SUITE_P(Each, Each,
                         testing::Values(setting{"thread", strategy_kind::thread, 0},
                                         setting{"pool_of_1", strategy_kind::pool, 1},
                                         setting{"pool_of_4", strategy_kind::pool, 4},
                                         setting{"event_of_1", strategy_kind::event, 1},
                                         setting{"event_of_2", strategy_kind::event, 2}),
                         [](const auto &tested_on) { return std::string(tested_on.param.name); });

} // namespace
