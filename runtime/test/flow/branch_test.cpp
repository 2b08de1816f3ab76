/// \file
/// Parallel steps on every strategy: what comes of them, which paths they took, where they run.

#include "flux/flow/branch.hpp"

#include "flux/process/crash.hpp"
#include "flux/io/park.hpp"
#include "../support/running_source.hpp"
#include "../support/patience.hpp"

#include <algorithm>
#include <array>
#include <barrier>
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <set>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;
using flux::outcome;
using flux::strategy_kind;

flux::park park_at_leaf(flux::flow &by)
{
    return {by, flux::park_reason::flow};
}

// The program of these tests, by hand:
//
//     Start () => (int flow);
//     source Start => Main;
//     Main = (A & B & C) -> End;
//     handle error A => H; … where the test says so

enum node : flux::node_number { node_Start, node_A, node_B, node_C, node_End, node_H };
enum function : flux::function_number { function_A, function_B, function_C, function_Main, function_Start_produce };

struct Start_out {
    int flow;
};

/// What a branch of a flow does, the test's choice; the branches are 0, 1 and 2.
std::function<outcome(flux::flow &, int flow, int branch)> work;
/// What the flow does after them.
std::function<void(flux::flow &, int flow, outcome)> joined;
int wanted_flows = 0;
int made_flows = 0;
/// Whether the third branch starts after the second, and whether paths are counted by themselves.
bool serialised = false;
bool cut = false;

template <int number>
outcome branch_of_main(flux::flow &flow, const int &in, int &out)
{
    const flux::node_number node = node_A + number;
    flow.call(node);
    const outcome exit = work(flow, in, number);
    out = 10 * in + number;
    if (exit == outcome::failed) {
        flow.failed_in(node, 100 + number);
        return flow.failed();
    }
    return exit == outcome::ended ? flow.ended() : flow.done();
}

outcome Main(flux::flow &flow, Start_out &in)
{
    const std::array<int, 3> inputs{in.flow, in.flow, in.flow};
    std::array<int, 3> outputs{};
    flux::branch A(flow, function_A, branch_of_main<0>, inputs[0], outputs[0]);
    flux::branch B(flow, function_B, branch_of_main<1>, inputs[1], outputs[1]);
    flux::branch C(flow, function_C, branch_of_main<2>, inputs[2], outputs[2]);
    if (serialised) {
        flux::start_after(C, B);
    }
    const outcome exit = cut ? flux::join_cut(flow, A, B, C) : flux::join(flow, A, B, C);
    EXPECT_EQ(flux::running_flow, &flow);
    for (int number = 0; number < 3; ++number) {
        EXPECT_EQ(outputs[static_cast<std::size_t>(number)], 10 * in.flow + number);
    }
    if (joined) {
        joined(flow, in.flow, exit);
    }
    if (exit != outcome::done) {
        return exit == outcome::failed ? flow.failed() : flow.ended();
    }
    flow.call(node_End);
    return flow.done();
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

constexpr flux::node_info nodes[] = {{"Start", "a.flux", 1}, {"A", "a.flux", 2},   {"B", "a.flux", 3},
                                     {"C", "a.flux", 4},     {"End", "a.flux", 5}, {"H", "a.flux", 6}};
constexpr flux::constraint_info constraints[] = {{"shared", flux::scope::program}};
constexpr flux::source_info sources[] = {
    flux::make_source<Start_produce, Main>({"Start", "a.flux", 7}, function_Start_produce, function_Main)};

/// The path graph, made in the order in which the compiler makes it.
struct graph {
    graph()
    {
        for (const char *const name : {"A", "B", "C"}) {
            const auto [start, exits] = begin(name, {1, 1, 1});
            const std::uint32_t called = vertex(flux::path_kind::label, name, 0, {{start, 0}});
            into(exits[0], called);
            into(exits[1], vertex(flux::path_kind::label, "ERROR", 0, {{called, 0}}));
            into(exits[2], vertex(flux::path_kind::label, "H", 0, {{called, 0}}));
        }
        const auto [start, exits] = begin("Main", {1, cut ? 1u : 27u, cut ? 1u : 27u});
        into(exits[0], vertex(flux::path_kind::label, "End", 0, {{joined(start, flux::path_kind::call_done), 0}}));
        into(exits[1], joined(start, flux::path_kind::call_any));
        into(exits[2], joined(start, flux::path_kind::call_any));
        const auto [made, made_exits] = begin("Start_produce", {1, 1, 0});
        into(made_exits[0], vertex(flux::path_kind::label, "Start", 0, {{made, 0}}));
        for (const auto &[kind, label, of, edges_into] : drawn) {
            vertices.push_back({kind, label, of, static_cast<std::uint32_t>(edges.size()),
                                static_cast<std::uint32_t>(edges_into.size())});
            edges.insert(edges.end(), edges_into.begin(), edges_into.end());
        }
    }

    std::vector<flux::path_function> functions;
    std::vector<flux::path_vertex> vertices;
    std::vector<flux::path_edge> edges;

  private:
    struct drawn_vertex {
        flux::path_kind kind;
        const char *label;
        flux::function_number of;
        std::vector<flux::path_edge> edges;
    };

    std::pair<std::uint32_t, std::array<std::uint32_t, 3>> begin(const char *name, std::array<unsigned, 3> paths)
    {
        const std::uint32_t start = vertex(flux::path_kind::start, nullptr, 0, {});
        const std::array<std::uint32_t, 3> exits{start + 1, start + 2, start + 3};
        for (int exit = 0; exit < 3; ++exit) {
            vertex(flux::path_kind::join, nullptr, 0, {});
        }
        functions.push_back({name, {paths[0], paths[1], paths[2]}, {exits[0], exits[1], exits[2]}});
        return {start, exits};
    }

    std::uint32_t joined(std::uint32_t at, flux::path_kind kind)
    {
        for (const flux::function_number branch : {function_A, function_B, function_C}) {
            at = vertex(flux::path_kind::label, branch == function_A ? "(" : "&", 0, {{at, 0}});
            at = vertex(cut ? flux::path_kind::cut_done : kind, nullptr, branch, {{at, 0}});
        }
        return vertex(flux::path_kind::label, ")", 0, {{at, 0}});
    }

    std::uint32_t vertex(flux::path_kind kind, const char *label, flux::function_number of,
                         std::vector<flux::path_edge> edges_into)
    {
        drawn.push_back({kind, label, of, std::move(edges_into)});
        return static_cast<std::uint32_t>(drawn.size() - 1);
    }

    void into(std::uint32_t exit, std::uint32_t from) { drawn[exit].edges.push_back({from, 0}); }

    std::vector<drawn_vertex> drawn;
};

/// How a test runs its flows.
struct setting {
    const char *name;
    strategy_kind kind;
    std::size_t workers;
};

class Branch : public testing::TestWithParam<setting>
{
  protected:
    void SetUp() override
    {
        work = [](flux::flow &, int, int) { return outcome::done; };
        joined = nullptr;
        serialised = false;
        cut = false;
    }

    /// Runs so many flows; gives what was counted, and keeps the paths of the flows with how often each was taken.
    flux::path_counts run(int count, std::size_t max_flows = 8)
    {
        drawn = std::make_unique<graph>();
        in = {"test", nodes, constraints, sources, drawn->functions, drawn->vertices, drawn->edges};
        wanted_flows = count;
        made_flows = 0;
        sample::running_source running(in, 0, GetParam().kind, max_flows, GetParam().workers);
        running.await_finished(static_cast<std::uint64_t>(count), 0);
        flux::path_counts counts = running.all.total();
        for (const outcome exit : flux::all_outcomes) {
            counts.flow_paths(0)[flux::index_of(exit)].visit([&](flux::path_number number, std::uint64_t times) {
                const auto labels = flux::decode_flow(in, 0, exit, number);
                ASSERT_TRUE(labels);
                std::string text;
                std::ranges::for_each(*labels, [&](const char *label) { text += std::string(" ") + label; });
                paths[text.substr(1)] += times;
            });
        }
        return counts;
    }

    std::unique_ptr<graph> drawn;
    flux::program in{};
    std::map<std::string, std::uint64_t> paths;
};

constexpr outcome exits[] = {outcome::done, outcome::failed, outcome::ended};

/// How branch `branch` of flow `flow` ends, where the 27 flows have all combinations.
outcome exit_of(int flow, int branch)
{
    const int digit = branch == 0 ? flow : branch == 1 ? flow / 3 : flow / 9;
    return exits[digit % 3];
}

TEST_P(Branch, TheFirstThatFailedDecidesElseOneThatEnded)
{
    work = [](flux::flow &, int flow, int branch) { return exit_of(flow, branch); };
    std::atomic<int> checked{0};
    joined = [&](flux::flow &flow, int number, outcome exit) {
        outcome expected = outcome::done;
        for (int branch = 2; branch >= 0; --branch) {
            if (exit_of(number, branch) == outcome::failed) {
                expected = outcome::failed;
            } else if (exit_of(number, branch) == outcome::ended && expected == outcome::done) {
                expected = outcome::ended;
            }
        }
        EXPECT_EQ(exit, expected) << number;
        for (int branch = 0; branch < 3; ++branch) {
            if (exit_of(number, branch) == outcome::failed) {
                EXPECT_EQ(flow.error(), 100 + branch) << number;
                EXPECT_EQ(flow.failed_node(), static_cast<flux::node_number>(node_A + branch)) << number;
                break;
            }
        }
        ++checked;
    };
    const flux::source_counts counts = run(27).of_source(0);
    EXPECT_EQ(checked, 27);
    EXPECT_EQ(counts.finished, (std::array<std::uint64_t, 3>{1, 19, 7}));
    // All branches of all flows ran, whatever became of the others.
    EXPECT_EQ(counts.counted.calls - counts.nothing, 27u + 27 * 3 + 1);
    EXPECT_EQ(counts.counted.failures, 27u);
}

TEST_P(Branch, APathThroughAStepIsTheCombinationOfItsBranches)
{
    work = [](flux::flow &, int flow, int branch) { return exit_of(flow, branch); };
    run(27);
    std::map<std::string, std::uint64_t> expected;
    for (int flow = 0; flow < 27; ++flow) {
        std::string path = "Start";
        for (int branch = 0; branch < 3; ++branch) {
            constexpr const char *names[] = {"( A", "& B", "& C"};
            constexpr const char *ends[] = {"", " ERROR", " H"};
            path += std::string(" ") + names[branch] + ends[flux::index_of(exit_of(flow, branch))];
        }
        ++expected[path + " )" + (flow == 0 ? " End" : "")];
    }
    EXPECT_EQ(paths, expected);
}

TEST_P(Branch, PathsThatWouldNotFitAreCountedByThemselves)
{
    cut = true;
    work = [](flux::flow &, int flow, int branch) { return exit_of(flow, branch); };
    const flux::path_counts counts = run(27);
    const std::map<std::string, std::uint64_t> expected{{"Start ( A & B & C ) End", 1}, {"Start ( A & B & C )", 26}};
    EXPECT_EQ(paths, expected);
    for (const flux::function_number branch : {function_A, function_B, function_C}) {
        for (const outcome exit : exits) {
            std::uint64_t taken = 0;
            const flux::path_tables &tables = *counts.function_paths(branch);
            tables[flux::index_of(exit)].visit([&](flux::path_number number, std::uint64_t times) {
                EXPECT_EQ(number, 0u);
                taken += times;
            });
            EXPECT_EQ(taken, 9u);
        }
    }
}

TEST_P(Branch, BranchesThatWaitForEachOtherRunInTurn)
{
    serialised = true;
    std::atomic<int> inside{0};
    std::array<std::atomic<int>, 20> last{};
    work = [&](flux::flow &, int flow, int branch) {
        if (branch != 0) {
            EXPECT_EQ(last[static_cast<std::size_t>(flow)].exchange(branch), branch - 1);
            ++inside;
        }
        std::this_thread::yield();
        return outcome::done;
    };
    run(20);
    EXPECT_EQ(inside, 40);
}

TEST_P(Branch, AFlowOfABranchIsThatOfItsParent)
{
    std::atomic<int> checked{0};
    work = [&](flux::flow &flow, int number, int branch) {
        EXPECT_EQ(flux::running_flow, &flow);
        EXPECT_NE(flow.parent(), nullptr);
        EXPECT_EQ(flow.id(), static_cast<std::uint64_t>(number) + 1);
        EXPECT_EQ(flow.position(), static_cast<flux::node_number>(node_A + branch));
        ++checked;
        return outcome::done;
    };
    joined = [](flux::flow &flow, int, outcome) { EXPECT_EQ(flow.parent(), nullptr); };
    run(5);
    EXPECT_EQ(checked, 15);
}

TEST_P(Branch, ConstraintsAreTakenByBranchesAndExclude)
{
    static flux::program_lock lock{0};
    long guarded = 0;
    work = [&](flux::flow &flow, int, int) {
        const flux::hold held(flow, lock, flux::mode::write);
        guarded += 1;
        return outcome::done;
    };
    EXPECT_EQ(run(300, 20).of_source(0).counted.acquisitions, 900u);
    EXPECT_EQ(guarded, 900);
}

TEST_P(Branch, TheWatchdogNamesTheNodeOfABranchThatHoldsItsLoop)
{
    if (GetParam().kind != strategy_kind::event) {
        GTEST_SKIP() << "there are no loops";
    }
    work = [&](flux::flow &flow, int, int branch) {
        const auto found = [&] {
            const flux::loop_facts known = flow.from().started_by().facts();
            return std::ranges::any_of(known.holds, [](const flux::loop_hold &each) { return each.node == node_C; });
        };
        await([&] { return branch != 2 || found(); });
        return outcome::done;
    };
    testing::internal::CaptureStderr();
    run(1);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("flux: C (a.flux:4) holds its event loop for more than a millisecond: it "), said.npos) << said;
}

TEST_P(Branch, ACrashIsSaidToBeInTheBranchAndItsNode)
{
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    const auto crash = [this] {
        flux::install_crash_message();
        work = [](flux::flow &, int, int branch) {
            if (branch == 1) {
                std::abort();
            }
            return outcome::done;
        };
        run(1);
    };
    EXPECT_DEATH(crash(), "SIGABRT in B \\(a.flux:3\\), flow 1 of Start \\(a.flux:7\\), path register 0 in a branch");
}

/// What a leaf of the tree does besides.
std::function<void(flux::flow &)> at_leaf;

outcome leaf(flux::flow &flow, std::atomic<int> &leaves)
{
    if (at_leaf) {
        at_leaf(flow);
    }
    ++leaves;
    return flow.done();
}

template <int depth>
outcome tree(flux::flow &flow, std::atomic<int> &leaves)
{
    if constexpr (depth == 0) {
        return leaf(flow, leaves);
    } else {
        flux::branch left(flow, function_A, tree<depth - 1>, leaves);
        flux::branch right(flow, function_A, tree<depth - 1>, leaves);
        return flux::join_cut(flow, left, right);
    }
}

TEST_P(Branch, BranchesOfBranchesEndOnAnyNumberOfThreads)
{
    std::atomic<int> leaves{0};
    work = [&](flux::flow &flow, int, int) { return tree<4>(flow, leaves); };
    run(20);
    EXPECT_EQ(leaves, 20 * 3 * 16);
}

/// Cancels the flow that this is a branch of, after a while; the test joins the thread before the flow ends.
std::thread cancel_later(flux::flow &branch, std::chrono::microseconds delay)
{
    flux::flow *root = &branch;
    while (root->parent() != nullptr) {
        root = root->parent();
    }
    return std::thread([=] {
        dawdle(delay);
        root->cancel();
    });
}

TEST_P(Branch, AreCancelledWithTheirFlowWhetherTheyWaitOrHaveNotBegun)
{
    std::thread canceller;
    std::atomic<int> leaves{0};
    at_leaf = [](flux::flow &flow) { EXPECT_EQ(park_at_leaf(flow).wait(), flux::park_end::cancelled); };
    work = [&](flux::flow &flow, int, int branch) {
        if (branch == 0) {
            canceller = cancel_later(flow, 10ms);
        }
        return tree<2>(flow, leaves);
    };
    joined = [&](flux::flow &flow, int, outcome) {
        canceller.join();
        EXPECT_TRUE(flow.cancelled());
        tree<2>(flow, leaves); // these are cancelled before they begin
    };
    run(1);
    at_leaf = nullptr;
    EXPECT_EQ(leaves, 4 * 4);
}

TEST_P(Branch, ACancellationThatRacesWithTheirEndsLeavesNothingBehind)
{
    constexpr int flows = 60;
    std::array<std::thread, flows> cancellers;
    std::atomic<int> leaves{0};
    at_leaf = [](flux::flow &flow) {
        static std::atomic<unsigned> turn{0};
        park_at_leaf(flow).wait(::in(std::chrono::microseconds(turn++ % 5 * 200)));
    };
    work = [&](flux::flow &flow, int number, int branch) {
        if (branch == 0) {
            cancellers[static_cast<std::size_t>(number)] = cancel_later(flow, std::chrono::microseconds(number * 50));
        }
        return tree<2>(flow, leaves);
    };
    joined = [&](flux::flow &flow, int number, outcome) {
        EXPECT_FALSE(flow.place().wait_until(flux::moment())) << "it was woken twice";
        cancellers[static_cast<std::size_t>(number)].join();
        EXPECT_TRUE(flow.cancelled());
    };
    run(flows);
    at_leaf = nullptr;
    EXPECT_EQ(leaves, flows * 3 * 4);
}

TEST_P(Branch, TheDeadlineOfAFlowIsThatOfItsBranches)
{
    std::atomic<int> leaves{0};
    at_leaf = [](flux::flow &flow) { EXPECT_EQ(park_at_leaf(flow).wait(), flux::park_end::timed_out); };
    work = [&](flux::flow &flow, int, int) {
        flow.set_deadline(::in(5ms));
        return tree<1>(flow, leaves);
    };
    run(1);
    at_leaf = nullptr;
    EXPECT_EQ(leaves, 3 * 2);
}

INSTANTIATE_TEST_SUITE_P(Branch, Branch,
                         testing::Values(setting{"thread", strategy_kind::thread, 0},
                                         setting{"pool_of_1", strategy_kind::pool, 1},
                                         setting{"pool_of_4", strategy_kind::pool, 4},
                                         setting{"event_of_1", strategy_kind::event, 1},
                                         setting{"event_of_2", strategy_kind::event, 2}),
                         [](const auto &tested) { return std::string(tested.param.name); });

using BranchAtOnce = Branch;

TEST_P(BranchAtOnce, BranchesRunConcurrently)
{
    std::barrier all_here(3);
    work = [&](flux::flow &, int, int) {
        all_here.arrive_and_wait(); // hangs unless all three run at once
        return outcome::done;
    };
    EXPECT_EQ(run(20, 1).of_source(0).finished[0], 20u);
}

INSTANTIATE_TEST_SUITE_P(Branch, BranchAtOnce,
                         testing::Values(setting{"thread", strategy_kind::thread, 0},
                                         setting{"pool_of_4", strategy_kind::pool, 4}),
                         [](const auto &tested) { return std::string(tested.param.name); });

using BranchThatBlocks = Branch;

TEST_P(BranchThatBlocks, NodesThatBlockRunConcurrently)
{
    std::barrier all_here(3);
    work = [&](flux::flow &flow, int, int branch) {
        flow.call(static_cast<flux::node_number>(node_A + branch));
        flow.beside_loops([&] { all_here.arrive_and_wait(); });
        return outcome::done;
    };
    EXPECT_EQ(run(20, 1).of_source(0).finished[0], 20u);
}

INSTANTIATE_TEST_SUITE_P(Branch, BranchThatBlocks,
                         testing::Values(setting{"thread", strategy_kind::thread, 0},
                                         setting{"pool_of_4", strategy_kind::pool, 4},
                                         setting{"event_of_1", strategy_kind::event, 1},
                                         setting{"event_of_2", strategy_kind::event, 2}),
                         [](const auto &tested) { return std::string(tested.param.name); });

using BranchOnLoops = Branch;

TEST_P(BranchOnLoops, BranchesStayOnTheLoopOfTheirFlow)
{
    std::mutex guard;
    std::map<int, std::set<std::thread::id>> threads;
    const auto note = [&](int flow) {
        const std::lock_guard alone(guard);
        threads[flow].insert(std::this_thread::get_id());
    };
    std::atomic<int> leaves{0};
    work = [&](flux::flow &flow, int number, int) {
        note(number);
        // The other loops have time enough to take what they could, while this one is held and while it is not.
        dawdle(1ms);
        park_at_leaf(flow).wait(::in(1ms));
        note(number);
        return tree<1>(flow, leaves);
    };
    at_leaf = [&](flux::flow &flow) { note(static_cast<int>(flow.id()) - 1); };
    run(20);
    at_leaf = nullptr;
    EXPECT_EQ(threads.size(), 20u);
    for (const auto &[flow, own] : threads) {
        EXPECT_EQ(own.size(), 1u) << flow;
    }
}

/// Two flows of one loop that wake each other, so that one of them can always run. Either may come first.
class restless_pair
{
  public:
    /// Called by each of them; `which` is 0 or 1. Returns when `until()` is so, or after many turns since `ready()`
    /// was so: before that another thread may still have to do something, and nobody knows how long that takes.
    template <class Ready, class Condition>
    void run(flux::flow &own, std::size_t which, Ready ready, Condition until)
    {
        places_[which] = &own.place();
        if (places_[1 - which] == nullptr) {
            own.place().wait();
        }
        while (!until() && turns_ < most_turns) {
            turns_ += ready() ? 1 : 0;
            places_[1 - which]->wake();
            own.place().wait();
        }
        if (!std::exchange(ended_, true)) {
            places_[1 - which]->wake();
        }
    }

    /// Whether they gave it up.
    bool was_in_vain() const { return turns_ == most_turns; }

  private:
    static constexpr int most_turns = 10'000;
    std::array<flux::waiter *, 2> places_{};
    int turns_ = 0;
    bool ended_ = false;
};

using BranchOnOneLoop = Branch;

TEST_P(BranchOnOneLoop, ABranchBeginsWhileOthersCouldAlwaysGoOn)
{
    restless_pair pair;
    bool begun = false;
    flux::waiter *first = nullptr;
    work = [&](flux::flow &flow, int number, int branch) {
        if (number < 2 && branch == 0) {
            pair.run(
                flow, static_cast<std::size_t>(number), [&] { return first != nullptr; }, [&] { return begun; });
        } else if (number == 2 && branch == 0) {
            first = &flow.place();
            if (!begun) {
                flow.place().wait(); // for the second branch
            }
        } else if (number == 2 && branch == 1) {
            begun = true;
            if (first != nullptr) { // else the flow gave way before its first one
                first->wake();
            }
        }
        return outcome::done;
    };
    run(3);
    EXPECT_FALSE(pair.was_in_vain());
}

INSTANTIATE_TEST_SUITE_P(Branch, BranchOnOneLoop, testing::Values(setting{"event_of_1", strategy_kind::event, 1}),
                         [](const auto &tested) { return std::string(tested.param.name); });

INSTANTIATE_TEST_SUITE_P(Branch, BranchOnLoops, testing::Values(setting{"event_of_4", strategy_kind::event, 4}),
                         [](const auto &tested) { return std::string(tested.param.name); });

using BranchAlone = Branch;

TEST_P(BranchAlone, APoolOfOneThreadRunsThemAllInTheOrderOfTheText)
{
    std::set<std::thread::id> threads;
    std::vector<int> order;
    work = [&](flux::flow &, int, int branch) {
        threads.insert(std::this_thread::get_id());
        order.push_back(branch);
        return outcome::done;
    };
    run(2);
    EXPECT_EQ(threads.size(), 1u);
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 0, 1, 2}));
}

INSTANTIATE_TEST_SUITE_P(Branch, BranchAlone, testing::Values(setting{"pool", strategy_kind::pool, 1}),
                         [](const auto &tested) { return std::string(tested.param.name); });

} // namespace
