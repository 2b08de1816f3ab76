#include "flux/insight/path_graph.hpp"

#include "flux/strategy/runner.hpp"
#include "../support/sample_program.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <utility>

namespace {

using flux::outcome;
using labels = std::set<std::pair<std::string, std::string>>;

const flux::path_graph graph(sample::program);

std::string text_of(flux::graph_vertex vertex)
{
    return graph.label(vertex);
}

TEST(PathGraph, HasTheWaysOfTheProgram)
{
    labels ways;
    for (const auto &[from, to] : graph.ways()) {
        ways.emplace(text_of(from), text_of(to));
    }
    // Main calls Choose twice, so that what it ends with stands before what it begins with, too; Cut calls it once, and
    // then shows it as one.
    const labels wanted = {{"Listen", "Begin"},           {"Begin", "Choose:[one]"}, {"Begin", "Choose:[two]"},
                           {"Choose:[one]", "One"},       {"One", "Choose:[one]"},   {"One", "Choose:[two]"},
                           {"Choose:[two]", "Choose:[one]"}, {"Choose:[two]", "Choose:[two]"},
                           {"One", "End"},                {"Choose:[two]", "End"},   {"One", "Choose"},
                           {"Choose:[two]", "Choose"},    {"Choose", "End"},         {"every 10ms", "Beat"}};
    EXPECT_EQ(ways, wanted);
}

TEST(PathGraph, KnowsWhereNodesAreDeclared)
{
    const auto end = std::ranges::find_if(graph.vertices(), [](auto vertex) { return text_of(vertex) == "End"; });
    ASSERT_NE(graph.node(*end), nullptr);
    EXPECT_EQ(graph.node(*end)->line, 5u);
    const auto is_line = [](auto vertex) { return text_of(vertex) == "Choose:[one]"; };
    const auto line = std::ranges::find_if(graph.vertices(), is_line);
    EXPECT_EQ(graph.node(*line), nullptr);
}

TEST(PathGraph, CountsWhatFlowsTook)
{
    flux::runner on(sample::program);
    flux::path_counts counts(sample::program);
    for (const int failing : {-1, -1, int{sample::node_End}}) {
        sample::Listen_out values{1, 2, failing};
        flux::flow flow;
        flow.run_on(on);
        counts.started(sample::source_Listen);
        counts.finished(sample::source_Listen, flow, sample::Main_run(flow, values));
    }
    std::map<std::string, flux::vertex_count> vertices;
    const flux::graph_counts all = graph.count(counts);
    for (const auto &[vertex, count] : all.vertices) {
        vertices[text_of(vertex)].times += count.times;
        vertices[text_of(vertex)].failed += count.failed;
    }
    EXPECT_EQ(vertices["Begin"].times, 3u);
    EXPECT_EQ(vertices["One"].times, 3u);
    EXPECT_EQ(vertices["End"].times, 3u);
    EXPECT_EQ(vertices["End"].failed, 1u);
    for (const auto &[way, times] : all.ways) {
        EXPECT_EQ(times, 3u) << text_of(way.first) << " -> " << text_of(way.second);
        EXPECT_TRUE(std::ranges::binary_search(graph.ways(), way)) << text_of(way.first) << text_of(way.second);
    }
    EXPECT_EQ(all.ways.size(), 5u);
}

TEST(PathGraph, IsToldAsJson)
{
    flux::run_facts facts = {flux::path_counts(sample::program), {{6, 2, 1'500'000, 2, 1500, 4, 1, 500'000}}, {}};
    facts.failures = {{sample::node_End, 5, 3, 2}};
    const std::string json = flux::graph_json(graph, sample::program, facts, "event");
    for (const char *const part :
         {"\"strategy\": \"event\"", "\"label\": \"End\", \"file\": \"sample.flux\", \"line\": 5, \"count\": 0, ",
          "{\"name\": \"shared\", \"taken\": 6, \"waited\": 2, \"waited_ns\": 1500000, "
          "\"taken_to_read\": 4, \"waited_ns_to_read\": 500000}",
          "\"paths\": [],",
          "{\"name\": \"End\", \"meaning\": \"error 5 (Input/output error)\", \"times\": 3, \"unhandled\": 2}"}) {
        EXPECT_NE(json.find(part), std::string::npos) << part << "\n" << json;
    }
}

} // namespace
