#include "flux/insight/metrics.hpp"

#include "../support/sample_program.hpp"

#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <unistd.h>

namespace {

flux::run_facts some_facts()
{
    flux::path_counts counts(sample::program);
    for (int i = 0; i < 3; ++i) {
        flux::flow flow;
        flow.add_path(i == 2 ? 1 : 0);
        counts.started(sample::source_Listen);
        counts.finished(sample::source_Listen, flow, flux::outcome::done);
    }
    counts.started(sample::source_Listen);
    flux::run_facts facts = {std::move(counts), {{6, 2, 1'500'000, 2, 1500, 4, 1, 500'000}}, {}};
    facts.constraint_times.resize(1);
    facts.constraint_times[0].readers.holds = {{{64, 66, 4}}, 3000, 2};
    facts.constraint_times[0].writers.waits = {{{491'520, 507'904, 1}, {999'424, 1'015'808, 1}}, 1'500'000, 2};
    facts.loops.flows = {3, 1};
    facts.loops.queues = {{"loop 0", 5}};
    facts.loops.stacks = 4;
    facts.source_times = {{sample::source_Listen, {{{1'000, 1'024, 2}, {9'000, 9'200, 1}}, 11'000, 3}, {}, {}}};
    facts.path_times = {{{sample::source_Listen, flux::outcome::done, false, 0}, {{{1'000, 1'024, 2}}, 2'000, 2}, {}},
                        {{sample::source_Listen, flux::outcome::done, false, 1}, {{{9'000, 9'200, 1}}, 9'000, 1}, {}}};
    facts.failures = {{sample::node_End, 5, 3, 2}, {flux::no_node, -7, 1, 0}};
    return facts;
}

std::string text(flux::metrics_format as = flux::metrics_format::prometheus)
{
    return flux::metrics_text(sample::program, some_facts(), "event", {1'700'000'000.5, 1.25, 4096, 7, 1024}, as);
}

// Whether these lines stand there, as they are.
void expect_lines(const std::string &lines, const std::string &in = text())
{
    EXPECT_NE(in.find("\n" + lines), std::string::npos) << in;
}

TEST(Metrics, AreOfFlowsAndPaths)
{
    expect_lines("flux_flows_started_total{source=\"Listen\"} 4\n");
    expect_lines("flux_flows_ended_total{source=\"Listen\",exit=\"done\"} 3\n");
    expect_lines("flux_flows_in_progress{source=\"Listen\"} 1\n");
    expect_lines("flux_path_flows_total{source=\"Listen\",exit=\"done\",path=\"0\"} 2\n"
                 "flux_path_flows_total{source=\"Listen\",exit=\"done\",path=\"1\"} 1\n");
    expect_lines("flux_paths_left_out 0\n");
}

TEST(Metrics, AreOfErrorsConstraintsAndLoops)
{
    expect_lines("flux_node_errors_total{node=\"End\",code=\"5\"} 3\n"
                 "flux_node_errors_total{node=\"\",code=\"-7\"} 1\n");
    expect_lines("flux_unhandled_errors_total{node=\"End\",code=\"5\"} 2\n");
    expect_lines("flux_constraint_acquisitions_total{constraint=\"shared\",mode=\"read\"} 4\n");
    expect_lines("flux_constraint_acquisitions_total{constraint=\"shared\",mode=\"write\"} 2\n");
    expect_lines("flux_constraint_waits_total{constraint=\"shared\",mode=\"read\"} 1\n");
    expect_lines("flux_constraint_wait_seconds_total{constraint=\"shared\",mode=\"read\"} 0.0005\n");
    expect_lines("flux_constraint_wait_seconds_total{constraint=\"shared\",mode=\"write\"} 0.001\n");
    expect_lines("flux_constraint_hold_seconds{constraint=\"shared\"} 7.5e-07\n");
    expect_lines("flux_loop_flows_total{loop=\"0\"} 3\nflux_loop_flows_total{loop=\"1\"} 1\n");
}

TEST(Metrics, AreHistogramsOfTimes)
{
    const std::string family = "flux_constraint_wait_time_seconds";
    const std::string writers = "{constraint=\"shared\",mode=\"write\"";
    expect_lines("# TYPE " + family + " histogram\n" + family + "_bucket{constraint=\"shared\",mode=\"read\",le=");
    expect_lines(family + "_bucket" + writers + ",le=\"0.000262144\"} 0\n" + family + "_bucket" + writers +
                 ",le=\"0.001048576\"} 2\n");
    expect_lines(family + "_bucket" + writers + ",le=\"+Inf\"} 2\n" + family + "_count" + writers + "} 2\n" + family +
                 "_sum" + writers + "} 0.0015\n");
    expect_lines(family + "_count{constraint=\"shared\",mode=\"read\"} 0\n");
}

TEST(Metrics, HaveThePathsOfFlowsAsExemplarsWhereTheFormatHasThese)
{
    const std::string first = "flux_flow_seconds_bucket{source=\"Listen\",le=\"1.024e-06\"} 2";
    const std::string later = "flux_flow_seconds_bucket{source=\"Listen\",le=\"1.6384e-05\"} 3";
    expect_lines(first + "\n");
    expect_lines(later + "\n");
    const std::string open = text(flux::metrics_format::open_metrics);
    expect_lines(first + " # {path=\"0\",exit=\"done\"} 1.012e-06\n", open);
    expect_lines(later + " # {path=\"1\",exit=\"done\"} 9.1e-06\n", open);
    expect_lines("flux_flow_seconds_bucket{source=\"Listen\",le=\"+Inf\"} 3\n", open);
}

TEST(Metrics, AreOfQueuesAndMemory)
{
    expect_lines("flux_queue_length{queue=\"loop 0\"} 5\n");
    expect_lines("flux_stacks 4\n");
}

TEST(Metrics, AreOfTheProcess)
{
    expect_lines("process_start_time_seconds 1700000000.5\n");
    expect_lines("process_cpu_seconds_total 1.25\n");
    expect_lines("process_resident_memory_bytes 4096\n");
    const flux::process_usage used = flux::usage_of_process();
    EXPECT_GT(used.started_seconds, 1e9);
    EXPECT_GT(used.resident_bytes, 100'000u);
    EXPECT_GT(used.open_descriptors, 2u);
    EXPECT_GT(used.most_descriptors, used.open_descriptors);
}

TEST(Metrics, HaveTheirHeadersInBothFormats)
{
    expect_lines("# HELP flux_flows_started_total Flows that sources have started.\n"
                 "# TYPE flux_flows_started_total counter\n");
    const std::string open = text(flux::metrics_format::open_metrics);
    expect_lines("# HELP flux_flows_started Flows that sources have started.\n"
                 "# TYPE flux_flows_started counter\nflux_flows_started_total{source=\"Listen\"} 4\n",
                 open);
    EXPECT_TRUE(open.ends_with("\n# EOF\n"));
    EXPECT_FALSE(text().ends_with("# EOF\n"));
}

TEST(Metrics, EscapeNames)
{
    flux::program in = sample::program;
    in.name = "a\"b\\c\n";
    const std::string all = flux::metrics_text(in, some_facts(), "pool", {}, flux::metrics_format::prometheus);
    expect_lines(R"(flux_info{program="a\"b\\c\n",version=")", all);
}

TEST(Metrics, AreOfThePathsThatWereTakenMost)
{
    flux::path_counts counts(sample::program);
    for (flux::path_number number = 0; number < flux::most_path_metrics + 5; ++number) {
        flux::flow flow;
        flow.add_path(number);
        counts.started(sample::source_Listen);
        counts.finished(sample::source_Listen, flow, flux::outcome::done);
    }
    const std::string all = flux::metrics_text(sample::program, {std::move(counts), {}, {}}, "pool", {},
                                               flux::metrics_format::prometheus);
    expect_lines("flux_paths_left_out 5\n", all);
    EXPECT_EQ(all.find("path=\"200\""), std::string::npos);
}

} // namespace
