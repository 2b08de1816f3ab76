#include "flux/flow/paths.hpp"

#include "flux/strategy/runner.hpp"
#include "../support/sample_program.hpp"

#include <gtest/gtest.h>
#include <set>

namespace {

using flux::outcome;

std::vector<std::string> strings(const flux::path_labels &labels)
{
    return {labels.begin(), labels.end()};
}

/// Every combination of what a sample flow can meet.
std::vector<sample::Listen_out> all_values()
{
    std::vector<sample::Listen_out> all;
    for (int first = 0; first < 3; ++first) {
        for (int second = 0; second < 3; ++second) {
            for (const int failing : {-1, int{sample::node_Begin}, int{sample::node_One}, int{sample::node_End}}) {
                all.push_back({first, second, failing, 0});
                all.push_back({first, second, failing, 1});
            }
        }
    }
    return all;
}

/// Runs one flow as its source would; gives its outcome.
outcome run(flux::flow &flow, flux::runner &on, std::size_t source, sample::Listen_out &values)
{
    flow.run_on(on);
    return source == sample::source_Listen ? sample::Main_run(flow, values) : sample::Cut_run(flow, values);
}

TEST(Paths, EveryPathDecodesToWhatTheFlowPassed)
{
    flux::runner on(sample::program);
    for (const std::size_t source : {sample::source_Listen, sample::source_Spread}) {
        std::set<std::pair<outcome, flux::path_number>> numbers;
        for (sample::Listen_out values : all_values()) {
            flux::flow flow;
            const outcome exit = run(flow, on, source, values);
            const auto labels = flux::decode_flow(sample::program, source, exit, flow.path());
            ASSERT_TRUE(labels.has_value());
            EXPECT_EQ(strings(*labels), values.trace);
            numbers.insert({exit, flow.path()});
        }
        // Numbers are dense: there are as many as paths.
        const flux::source_paths paths = flux::paths_of(sample::program, sample::sources[source]);
        EXPECT_EQ(numbers.size(), paths.total[0] + paths.total[1] + paths.total[2]);
    }
}

TEST(Paths, ANumberThatIsNoneDecodesToNothing)
{
    const auto decode = [](std::size_t source, outcome exit, flux::path_number number) {
        return flux::decode_flow(sample::program, source, exit, number);
    };
    EXPECT_TRUE(decode(sample::source_Listen, outcome::done, 3));
    EXPECT_FALSE(decode(sample::source_Listen, outcome::done, 4));
    EXPECT_TRUE(decode(sample::source_Listen, outcome::failed, 10));
    EXPECT_FALSE(decode(sample::source_Listen, outcome::failed, 11));
    EXPECT_FALSE(decode(sample::source_Listen, outcome::ended, 0));
}

TEST(Paths, ATimerIsTheFirstLabelOfItsFlows)
{
    const auto labels = flux::decode_flow(sample::program, sample::source_Beat, outcome::done, 0);
    ASSERT_TRUE(labels);
    EXPECT_EQ(strings(*labels), (std::vector<std::string>{"every 10ms", "Beat"}));
}

/// A program of one source; its two functions have so many paths, and edges that spell the number.
struct two_functions {
    explicit two_functions(flux::path_number made, flux::path_number run)
        : functions{{"Make", {made, 0, 0}, {1, 1, 1}}, {"Run", {run, run, 0}, {1, 1, 1}}}
    {
        in.path_functions = functions;
        in.path_vertices = vertices;
        in.path_edges = edges;
        in.sources = sources;
    }

    static flux::outcome nothing(flux::flow &flow) { return flow.done(); }

    flux::path_function functions[2];
    flux::path_vertex vertices[4] = {
        {flux::path_kind::start, nullptr, 0, 0, 0},
        {flux::path_kind::join, nullptr, 0, 0, 2},
        {flux::path_kind::label, "low", 0, 2, 1},
        {flux::path_kind::label, "high", 0, 2, 1},
    };
    flux::path_edge edges[3] = {{2, 0}, {3, 1}, {0, 0}};
    flux::source_info sources[1] = {flux::make_source<nothing, nothing>({"Source", "a.flux", 1}, 0, 1)};
    flux::program in{"a", {}, {}, {}, {}, {}, {}};
};

TEST(Paths, AFlowsNumberIsMadeOfItsMakingAndItsRun)
{
    const two_functions program(2, 2);
    const flux::source_paths paths = flux::paths_of(program.in, program.in.sources[0]);
    EXPECT_FALSE(paths.cut);
    EXPECT_EQ(paths.radix[0], 2u);
    EXPECT_EQ(paths.total[0], 4u);
    using strings_of = std::vector<std::string>;
    const auto decoded = [&](flux::path_number number) {
        return strings(*flux::decode_flow(program.in, 0, outcome::done, number));
    };
    EXPECT_EQ(decoded(0), (strings_of{"low", "low"}));
    EXPECT_EQ(decoded(1), (strings_of{"low", "high"}));
    EXPECT_EQ(decoded(2), (strings_of{"high", "low"}));
    EXPECT_EQ(decoded(3), (strings_of{"high", "high"}));
}

TEST(Paths, WhatDoesNotFitIsCutAtTheSource)
{
    const two_functions fits(flux::path_limit / 2, 2);
    EXPECT_FALSE(flux::paths_of(fits.in, fits.in.sources[0]).cut);
    EXPECT_EQ(flux::paths_of(fits.in, fits.in.sources[0]).total[0], flux::path_limit);
    const two_functions program(flux::path_limit / 2 + 1, 2);
    const flux::source_paths paths = flux::paths_of(program.in, program.in.sources[0]);
    EXPECT_TRUE(paths.cut);
    EXPECT_EQ(paths.total[0], 2u);
    const auto labels = flux::decode_flow(program.in, 0, outcome::done, 1);
    ASSERT_TRUE(labels);
    EXPECT_EQ(strings(*labels), (std::vector<std::string>{"Source", "high"}));
}

} // namespace
