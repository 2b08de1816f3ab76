#include "flux/strategy/strategy.hpp"

#include "../support/running_source.hpp"
#include "../support/patience.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

namespace {

using namespace std::chrono_literals;
using flux::outcome;
using flux::strategy_kind;
using sample::running_source;

/// What passed which labels and came to which exit, by the flows' own account.
std::mutex reference_lock;
std::map<std::pair<outcome, std::vector<std::string>>, std::uint64_t> reference;

template <outcome (*run)(flux::flow &, sample::Listen_out &)>
outcome and_note(flux::flow &flow, sample::Listen_out &values)
{
    const outcome exit = run(flow, values);
    const std::lock_guard alone(reference_lock);
    ++reference[{exit, values.trace}];
    return exit;
}

constexpr flux::source_info noting_sources[] = {
    flux::make_source<sample::Listen_produce, and_note<sample::Main_run>>(
        {"Listen", "a.flux", 1}, sample::function_Listen_produce, sample::function_Main_run),
    flux::make_source<sample::Listen_produce, and_note<sample::Cut_run>>(
        {"Spread", "a.flux", 2}, sample::function_Listen_produce, sample::function_Cut_run),
};

class Strategy : public testing::TestWithParam<strategy_kind>
{
};

TEST_P(Strategy, PathCountsAreWhatTheFlowsPassed)
{
    constexpr int count = 2'000;
    flux::program in = sample::program;
    in.sources = noting_sources;
    for (const std::size_t source : {sample::source_Listen, sample::source_Spread}) {
        reference.clear();
        std::map<std::pair<outcome, std::vector<std::string>>, std::uint64_t> counted;
        sample::listen = sample::flows(count, [](int number) {
            return sample::Listen_out{number % 3, number / 3 % 3, number / 9 % 6 - 1, number / 54 % 2};
        });
        {
            running_source running(in, source, GetParam(), 50);
            running.await_finished(count, source);
            const flux::path_counts total = running.all.total();
            for (const outcome exit : flux::all_outcomes) {
                const flux::path_table &table = total.flow_paths(source)[flux::index_of(exit)];
                table.visit([&](flux::path_number number, std::uint64_t times) {
                    const auto labels = flux::decode_flow(in, source, exit, number);
                    ASSERT_TRUE(labels);
                    counted[{exit, {labels->begin(), labels->end()}}] += times;
                });
            }
            EXPECT_EQ(total.lost(), 0u);
        }
        EXPECT_EQ(counted, reference);
        EXPECT_GE(reference.size(), 8u);
    }
}

TEST_P(Strategy, AConstraintHoldsFlowsApart)
{
    constexpr int count = 1'000;
    int inside = 0; // plain: the thread sanitizer sees two at it
    int most = 0;
    sample::work = [&](const sample::Listen_out &) {
        if (flux::running_flow->position() == sample::node_One) {
            most = std::max(most, ++inside);
            std::this_thread::yield();
            --inside;
        }
    };
    sample::listen = sample::flows(count, [](int) { return sample::Listen_out{1, 1, -1}; });
    {
        running_source running(sample::program, sample::source_Listen, GetParam(), 8, 4);
        running.await_finished(count);
        EXPECT_EQ(running.counts().counted.acquisitions, 2u * count);
    }
    EXPECT_EQ(most, 1);
}

INSTANTIATE_TEST_SUITE_P(Each, Strategy,
                         testing::Values(strategy_kind::thread, strategy_kind::pool, strategy_kind::event),
                         [](const auto &tested) { return std::string(flux::strategy_name(tested.param)); });

TEST(StrategyThread, EveryFlowHasAThreadOfItsOwnAndTheyAreGoneAtTheEnd)
{
    static std::atomic<int> alive{0};
    struct resident {
        resident() { ++alive; }
        ~resident()
        {
            dawdle(10ms); // still there when the flow has ended
            --alive;
        }
    };
    std::mutex guard;
    int flows = 0;
    sample::work = [&](const sample::Listen_out &) {
        static thread_local resident here;
        static_cast<void>(here);
        const std::lock_guard alone(guard);
        ++flows;
    };
    sample::listen = sample::flows(20, [](int) { return sample::Listen_out{2, 2, sample::node_Begin}; });
    {
        running_source running(sample::program, sample::source_Listen, strategy_kind::thread, 4);
        running.await_finished(20);
    }
    EXPECT_EQ(flows, 20);
    EXPECT_EQ(alive, 0);
}

} // namespace
