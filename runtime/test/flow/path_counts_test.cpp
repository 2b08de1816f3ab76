#include "flux/flow/path_counts.hpp"

#include "flux/waiting/sanitizer.hpp"
#include "flux/strategy/runner.hpp"
#include "../support/lack_of_memory.hpp"
#include "../support/sample_program.hpp"

#include <gtest/gtest.h>
#include <map>

namespace {

using flux::outcome;

std::map<flux::path_number, std::uint64_t> contents(const flux::path_table &table)
{
    std::map<flux::path_number, std::uint64_t> found;
    table.visit([&](flux::path_number number, std::uint64_t count) { found[number] += count; });
    return found;
}

TEST(PathTable, CountsFewPathsAndMany)
{
    for (const flux::path_number total : {flux::path_number{3}, flux::path_limit}) {
        flux::path_table table(total);
        table.add(0);
        table.add(total - 1);
        table.add(total - 1);
        EXPECT_EQ(contents(table), (std::map<flux::path_number, std::uint64_t>{{0, 1}, {total - 1, 2}}));
        EXPECT_EQ(table.lost(), 0u);
    }
}

TEST(PathTable, KeepsANumberThatIsOutOfItsRange)
{
    flux::path_table table(3);
    table.add(1);
    table.add(7);
    EXPECT_EQ(contents(table), (std::map<flux::path_number, std::uint64_t>{{1, 1}, {7, 1}}));
}

TEST(PathTable, AddsUp)
{
    flux::path_table sum(5);
    flux::path_table other(5);
    sum.add(4, 10);
    other.add(4);
    other.add(0);
    other.add(flux::path_limit);
    sum.add(other);
    EXPECT_EQ(contents(sum), (std::map<flux::path_number, std::uint64_t>{{0, 1}, {4, 11}, {flux::path_limit, 1}}));
}

TEST(PathCounts, CountFlowsByOutcomeAndPathAndWhatTheyDid)
{
    flux::runner on(sample::program);
    flux::path_counts counts(sample::program);
    const auto flow_with = [&](sample::Listen_out values) {
        flux::flow flow;
        flow.run_on(on);
        counts.started(sample::source_Listen);
        counts.finished(sample::source_Listen, flow, sample::Main_run(flow, values));
    };
    flow_with({1, 2, -1});
    flow_with({1, 2, -1});
    flow_with({1, 0, -1});
    counts.started(sample::source_Listen);
    const flux::source_counts of = counts.of_source(sample::source_Listen);
    EXPECT_EQ(of.started, 4u);
    EXPECT_EQ(of.finished[flux::index_of(outcome::done)], 2u);
    EXPECT_EQ(of.finished[flux::index_of(outcome::failed)], 1u);
    EXPECT_EQ(of.in_progress(), 1u);
    EXPECT_EQ(of.counted.calls, 6u + 6u + 5u);
    EXPECT_EQ(of.counted.dispatches, 6u);
    EXPECT_EQ(of.counted.acquisitions, 3u);
    EXPECT_EQ(of.counted.failures, 1u);
    using counted = std::map<flux::path_number, std::uint64_t>;
    EXPECT_EQ(contents(counts.flow_paths(sample::source_Listen)[0]), (counted{{1, 2}}));
    EXPECT_EQ(contents(counts.flow_paths(sample::source_Listen)[1]), (counted{{3, 1}}));
    EXPECT_EQ(counts.function_paths(sample::function_Choose), nullptr);
}

TEST(PathCounts, KeepTheEndOfAClientsInputApartFromWhatHasFailed)
{
    flux::runner on(sample::program);
    flux::path_counts counts(sample::program);
    for (const int error : {flux::end_of_input, EIO, flux::end_of_input}) {
        flux::flow flow;
        flow.run_on(on);
        counts.started(sample::source_Listen);
        flow.failed_in(sample::node_Begin, error);
        counts.finished(sample::source_Listen, flow, flow.failed(2));
    }
    flux::path_counts sum(sample::program);
    sum.add(counts);
    sum.add_started(counts);
    for (const flux::path_counts *each : {&counts, &sum}) {
        const flux::source_counts of = each->of_source(sample::source_Listen);
        EXPECT_EQ(of.finished, (decltype(of.finished){2, 1, 0}));
        using counted = std::map<flux::path_number, std::uint64_t>;
        EXPECT_EQ(contents(each->input_ends(sample::source_Listen)), (counted{{2, 2}}));
        EXPECT_EQ(contents(each->flow_paths(sample::source_Listen)[1]), (counted{{2, 1}}));
    }
}

TEST(PathCounts, CountWhatIsCutByItself)
{
    flux::runner on(sample::program);
    flux::flow flow;
    flow.run_on(on);
    sample::Listen_out values{1, 2, -1};
    EXPECT_EQ(sample::Cut_run(flow, values), outcome::done);
    EXPECT_EQ(flow.path(), 0u) << "the register goes on as it was before the call";
    const flux::path_tables *const of_choose = on.counts().function_paths(sample::function_Choose);
    ASSERT_NE(of_choose, nullptr);
    EXPECT_EQ(contents((*of_choose)[0]), (std::map<flux::path_number, std::uint64_t>{{1, 1}}));
}

TEST(PathCounts, AFlowThatWasCutShortIsCancelledAndNothingElse)
{
    flux::path_counts counts(sample::program);
    for (const outcome exit : flux::all_outcomes) {
        flux::flow flow;
        flow.cancel();
        counts.started(sample::source_Listen);
        counts.finished(sample::source_Listen, flow, exit);
    }
    flux::source_counts sum = counts.of_source(sample::source_Listen);
    sum += sum;
    EXPECT_EQ(sum.finished, (std::array<std::uint64_t, 3>{2, 0, 0})) << "what is done was not cut short";
    EXPECT_EQ(sum.cancelled, 4u);
    EXPECT_EQ(sum.in_progress(), 0u);
    EXPECT_EQ(contents(counts.flow_paths(sample::source_Listen)[1]).at(0), 1u) << "its path is known all the same";
}

TEST(PathCounts, AddUpOverRunners)
{
    flux::runners all(sample::program);
    for (int i = 0; i < 3; ++i) {
        flux::runner *const runner = all.borrow();
        ASSERT_NE(runner, nullptr);
        flux::flow flow;
        flux::path_counts &counts = runner->counts();
        counts.started(sample::source_Listen);
        counts.started(sample::source_Listen);
        counts.finished(sample::source_Listen, flow, outcome::done);
        counts.took(sample::function_Choose, outcome::failed, 1);
    }
    const flux::path_counts total = all.total();
    EXPECT_EQ(total.of_source(sample::source_Listen).started, 6u);
    EXPECT_EQ(total.of_source(sample::source_Listen).in_progress(), 3u);
    EXPECT_EQ(contents(total.flow_paths(sample::source_Listen)[0]).at(0), 3u);
    EXPECT_EQ(contents((*total.function_paths(sample::function_Choose))[1]).at(1), 3u);
    EXPECT_EQ(all.flows_in_progress(), 3u);
}

TEST(PathTable, WhatFindsNoMemoryIsLostAndAddedUpAsLost)
{
    // Under a sanitizer arrays have memory, as it has an `operator new[]` of its own.
    constexpr bool has_arrays = flux::address_sanitizer || flux::thread_sanitizer;
    flux::path_table table(3);
    {
        const lack_of_memory here;
        table.add(flux::path_limit, 2); // beyond the array
        if (!has_arrays) {
            table.add(1, 4); // there is no array, and no entry instead of it either
        }
    }
    const std::uint64_t lost = has_arrays ? 2 : 6;
    EXPECT_EQ(table.lost(), lost);
    EXPECT_EQ(contents(table), (std::map<flux::path_number, std::uint64_t>{}));
    table.add(1);
    EXPECT_EQ(contents(table), (std::map<flux::path_number, std::uint64_t>{{1, 1}})) << "as soon as there is memory";
    flux::path_table sum(3);
    sum.add(table);
    sum.add(table);
    EXPECT_EQ(sum.lost(), 2 * lost);
    EXPECT_EQ(contents(sum), (std::map<flux::path_number, std::uint64_t>{{1, 2}}));
}

TEST(PathCounts, SayHowOftenThereWasNoMemory)
{
    flux::path_counts counts(sample::program);
    {
        const lack_of_memory here;
        counts.took(sample::function_Choose, outcome::failed, 1);
    }
    EXPECT_EQ(counts.lost(), 1u) << "there are no tables";
    counts.took(sample::function_Choose, outcome::failed, 1);
    {
        const lack_of_memory here;
        counts.took(sample::function_Choose, outcome::failed, flux::path_limit);
        counts.took(sample::function_Choose, outcome::failed, flux::path_limit);
        flux::flow flow;
        flow.add_path(flux::path_limit);
        counts.started(sample::source_Listen);
        counts.finished(sample::source_Listen, flow, outcome::done);
    }
    EXPECT_EQ(counts.lost(), 4u) << "two in the tables of a function, and one in those of a source";
    EXPECT_EQ(counts.of_source(sample::source_Listen).in_progress(), 0u) << "the flow has ended all the same";
    flux::path_counts sum(sample::program);
    sum.add(counts);
    sum.add(counts);
    EXPECT_EQ(sum.lost(), 8u);
}

TEST(PathCounts, FlowsThatStartedAreAddedForEachSource)
{
    flux::path_counts counts(sample::program);
    flux::path_counts sum(sample::program);
    const auto sources = static_cast<flux::source_number>(sample::program.sources.size());
    EXPECT_GT(sources, 1u);
    for (flux::source_number source = 0; source < sources; ++source) {
        for (flux::source_number times = 0; times <= source; ++times) {
            counts.started(source);
        }
    }
    sum.add(counts);
    sum.add_started(counts);
    for (flux::source_number source = 0; source < sources; ++source) {
        EXPECT_EQ(sum.of_source(source).started, source + 1);
    }
}

} // namespace
