#include "flux/insight/report.hpp"

#include "flux/error.hpp"
#include "flux/strategy/runner.hpp"
#include "../support/sample_program.hpp"

#include <chrono>
#include <gtest/gtest.h>
#include <iterator>
#include <utility>

namespace {

/// What was counted of the one constraint.
constexpr flux::constraint_totals some_constraints[] = {{6, 2, 1'500'000, 2, 1500, 4, 1, 500'000}};

const flux::loop_facts some_loops = {
    {{sample::node_One, 3, std::chrono::microseconds(21'500)}}, 8192, {30, 4, 5}, {100, 2, 0},
    {610, 10, std::chrono::microseconds(52)}, 7, 3, 2};

/// What is known of a run with these counts.
flux::run_facts facts_of(flux::path_counts counts, const flux::loop_facts &loops = some_loops)
{
    return {std::move(counts), {std::begin(some_constraints), std::end(some_constraints)}, loops};
}

/// Counts of a few flows of each source.
flux::path_counts some_counts(flux::runner &on)
{
    flux::path_counts counts(sample::program);
    const auto run = [&](std::size_t source, sample::Listen_out values, int times) {
        for (int i = 0; i < times; ++i) {
            sample::Listen_out own = values;
            flux::flow flow;
            flow.run_on(on);
            counts.started(source);
            const auto of_source = source == sample::source_Listen ? sample::Main_run : sample::Cut_run;
            counts.finished(source, flow, of_source(flow, own));
        }
    };
    run(sample::source_Listen, {1, 2, -1}, 6);
    run(sample::source_Listen, {2, 2, sample::node_End}, 3);
    run(sample::source_Spread, {2, 2, -1}, 1);
    counts.started(sample::source_Listen);
    counts.took(sample::function_Listen_produce, flux::outcome::failed, 0);
    return counts;
}

flux::run_facts some_facts(flux::runner &on)
{
    flux::run_facts facts = facts_of(some_counts(on));
    facts.failures = {{sample::node_End, 5, 3, 2}, {flux::no_node, flux::exception_thrown, 1, 0}};
    facts.abandoned = {{sample::source_Listen, sample::node_One, 1, std::chrono::milliseconds(30'100)},
                         {sample::source_Spread, flux::no_node, 2, std::chrono::milliseconds(0)}};
    const flux::histogram_counts twice({{64, 66, 2}}, 130, 1);
    facts.flows_made = 3;
    facts.flow_bytes = 900;
    facts.time = std::chrono::milliseconds(12'500);
    facts.cpu_time = std::chrono::milliseconds(3'750);
    facts.measuring_cpu_time = std::chrono::microseconds(2'500);
    using std::chrono::microseconds;
    facts.thread_cost = {microseconds(10), microseconds(21)};
    facts.node_times = {{sample::node_One, twice, {twice}, {}}};
    const auto from_listen = static_cast<flux::edge_origin>(std::size(sample::nodes) + sample::source_Listen);
    facts.value_sizes = {{from_listen, sample::node_Begin, {{{100, 101, 3}}, 300, 2}}};
    return facts;
}

TEST(Report, FlowsOfAServerThatRunsAreInProgressAndNotCancelled)
{
    flux::runner on(sample::program);
    flux::run_facts facts = some_facts(on);
    facts.is_running = true;
    const std::string text = flux::text_report(sample::program, facts);
    EXPECT_NE(text.find(" 11 flows: 7 done, 3 failed, 0 ended by an error handler, 0 cancelled, 1 in progress\n"),
              std::string::npos)
        << text;
    const std::string json = flux::json_report(sample::program, facts, "pool");
    EXPECT_NE(json.find(R"("flows": {"started": 11, "done": 7, "failed": 3, "ended": 0, "cancelled": 0})"),
              std::string::npos)
        << json;
}

TEST(Report, WhatWaitsAndWhatNodesAreParkedForAreInItsJson)
{
    flux::runner on(sample::program);
    flux::run_facts facts = some_facts(on);
    facts.loops.queues = {{"loop 0", 5}};
    facts.loops.stacks = 4;
    facts.node_times[0].parked_for[static_cast<std::size_t>(flux::park_reason::sleep)] = {{{64, 66, 2}}, 130, 1};
    facts.constraint_times.resize(1);
    facts.constraint_times[0].reuse = {7, {{0, 1, 3}, {64, 66, 2}}};
    const std::string json = flux::json_report(sample::program, facts, "event");
    for (const char *const part : {R"({"where": "loop 0", "waiting": 5})", R"("stacks": 4})",
                                   R"("parked_for": {"sleep": {"times": 2, "measured": 1, "sum_ns": 130, )",
                                   R"("reuse": {"first_uses": 7, "distances": [[0, 3], [64, 2]]})"}) {
        EXPECT_NE(json.find(part), std::string::npos) << part << " in " << json;
    }
}

TEST(Report, ForPeople)
{
    flux::runner on(sample::program);
    EXPECT_EQ(flux::text_report(sample::program, some_facts(on)),
              "flux: sample: 11 flows: 7 done, 3 failed, 0 ended by an error handler, 1 cancelled\n"
              "      56 calls, 20 dispatches, 6 acquisitions, 0 parks, 3 failures; 0 times a source had nothing\n"
              "\n"
              "       flows    share  path\n"
              "           6   60.00%  Listen -> Begin -> Choose:[one] -> One -> Choose:[two] -> End\n"
              "           3   30.00%  Listen -> Begin -> Choose:[two] -> Choose:[two] -> End -> ERROR  -- failed\n"
              "           1   10.00%  Listen -> Begin -> Choose:[two] -> Choose -> End\n"
              "\n"
              "       times  path through a function that is counted by itself\n"
              "           1  Listen_produce: Listen -> ERROR  -- failed\n"
              "\n"
              "       times     unhandled  error\n"
              "           3             2  End (sample.flux:5): error 5 (Input/output error)\n"
              "           1             0  outside of nodes: exception_thrown\n"
              "\n"
              "      flows that did not end:\n"
              "      1 flow of Listen (sample.flux:8) in One (sample.flux:4), for 30.1 s so far\n"
              "      2 flows of Spread (sample.flux:9) before the first node, for 0.0 s so far\n"
              "\n"
              "       taken        waited     ms waited  us held each  constraint\n"
               "           6             2         1.500         0.750  shared\n"
              "\n"
              "         102  flows begun, by event loop: 100 2 0\n"
              "\n"
              "          39  connections accepted, by event loop: 30 4 5 -- lopsided\n"
              "\n"
              "           8  KiB of stack, the most that a flow needed\n"
              "\n"
              "           7  threads beside the event loops, the most at once, for nodes that block\n"
              "           3  threads beside the event loops, the most at once, for calls of files and names\n"
              "           2  threads beside the event loops, the most at once, for calls that wait for others\n"
              "\n"
              "       times    longest ms  node that held its event loop for more than a millisecond\n"
              "           3          21.5  One\n");
}

TEST(Report, TheEndOfAClientsInputIsNoError)
{
    flux::runner on(sample::program);
    flux::path_counts counts(sample::program);
    flux::flow flow;
    flow.run_on(on);
    counts.started(sample::source_Listen);
    flow.failed_in(sample::node_Begin, flux::end_of_input);
    counts.finished(sample::source_Listen, flow, flow.failed(1));
    const flux::run_facts facts = facts_of(std::move(counts));
    const std::string text = flux::text_report(sample::program, facts);
    EXPECT_NE(text.find("Listen -> Begin  -- end of input\n"), std::string::npos) << text;
    const std::string json = flux::json_report(sample::program, facts, "thread");
    EXPECT_NE(json.find(R"("exit": "end of input")"), std::string::npos) << json;
}

const char *const some_json = R"({
  "format": 1,
  "flux": "0.1.0",
  "program": "sample",
  "strategy": "thread",
  "seconds": 12.500,
  "cpu_seconds": 3.750,
  "source_cpu_seconds": 0.000,
  "measuring_cpu_seconds": 0.002500,
  "thread_cost_ns": {"alone": 10000, "beside": 21000},
  "loop_sleeps": {"times": 610, "measured": 10, "worked_ns": 52000},
  "flows": {"started": 11, "done": 7, "failed": 3, "ended": 0, "cancelled": 1},
  "counters": {"calls": 56, "dispatches": 20, "acquisitions": 6, "parks": 0, "failures": 3, "forgotten": 0},
  "first_to_forget": null,
  "lost": 0,
  "sources": [
    {"name": "Listen", "file": "sample.flux", "line": 8, "nothing": 0, "flows": )"
        R"({"started": 10, "done": 6, "failed": 3, "ended": 0, "cancelled": 1}},
    {"name": "Spread", "file": "sample.flux", "line": 9, "nothing": 0, "flows": )"
        R"({"started": 1, "done": 1, "failed": 0, "ended": 0, "cancelled": 0}},
    {"name": "every 10ms", "file": "sample.flux", "line": 10, "nothing": 0, "flows": )"
        R"({"started": 0, "done": 0, "failed": 0, "ended": 0, "cancelled": 0}}
  ],
  "constraints": [
    {"name": "shared", "taken": 6, "waited": 2, "waited_ns": 1500000, "timed": 2, "held_ns": 1500}
  ],
  "queues": [],
  "memory": {"flows": 3, "flow_bytes": 900, "stacks": 0},
  "stack_bytes": 8192,
  "stacks": [],
  "blocking_threads": 7,
  "call_threads": 3,
  "wait_threads": 2,
  "flows_begun": [100, 2, 0],
  "accepted": [30, 4, 5],
  "holds": [
    {"name": "One", "times": 3, "longest_ns": 21500000}
  ],
  "failures": [
    {"name": "End", "code": 5, "meaning": "error 5 (Input/output error))"
        "\"" R"(, "times": 3, "unhandled": 2},
    {"name": null, "code": -1000000002, "meaning": "exception_thrown", "times": 1, "unhandled": 0}
  ],
  "abandoned": [
    {"source": "Listen", "name": "One", "flows": 1, "longest_ms": 30100},
    {"source": "Spread", "name": null, "flows": 2, "longest_ms": 0}
  ],
  "flow_times": [],
  "node_times": [
    {"name": "One", "file": "sample.flux", "line": 4, "whole": {"times": 2, )"
              R"("measured": 1, "sum_ns": 130, "p50_ns": 65, "p90_ns": 65, "p99_ns": 65, )"
              R"("steps": [[64, 2]]}, "ran": {"times": 2, )"
              R"("measured": 1, "sum_ns": 130, "p50_ns": 65, "p90_ns": 65, "p99_ns": 65, "steps": [[64, 2]]}}
  ],
  "value_sizes": [
    {"from": "Listen", "to": "Begin", "bytes": {"times": 3, "measured": 2, "sum_bytes": 300, "p50_bytes": 100, )"
                                                                                R"("p90_bytes": 100, )"
                                                                                R"("p99_bytes": 100, )"
                                                                                R"("steps": [[100, 3]]}}
  ],
  "paths": [
    {"source": "Listen", "exit": "done", "number": 1, "count": 6, "share": 0.600000, )"
        R"("labels": ["Listen", "Begin", "Choose:[one]", "One", "Choose:[two]", "End"]},
    {"source": "Listen", "exit": "failed", "number": 10, "count": 3, "share": 0.300000, )"
        R"("labels": ["Listen", "Begin", "Choose:[two]", "Choose:[two]", "End", "ERROR"]},
    {"source": "Spread", "exit": "done", "number": 1, "count": 1, "share": 0.100000, )"
        R"("labels": ["Listen", "Begin", "Choose:[two]", "Choose", "End"]}
  ],
  "path_times_left_out": 0,
  "cut": [
    {"function": "Listen_produce", "exit": "failed", "number": 0, "count": 1, "labels": ["Listen", "ERROR"]}
  ]
}
)";

TEST(Report, ForPrograms)
{
    flux::runner on(sample::program);
    EXPECT_EQ(flux::json_report(sample::program, some_facts(on), "thread"), some_json);
}

/// Something that flows forget.
class forgettable final : public flux::belonging
{
    bool flow_has_ended() noexcept override { return true; }
};

TEST(Report, OfConnectionsThatFlowsForgot)
{
    flux::runner on(sample::program);
    flux::path_counts counts(sample::program);
    for (const flux::node_number node : {sample::node_One, sample::node_End}) {
        forgettable one;
        flux::flow flow;
        flow.run_on(on);
        flow.call(node);
        flow.own(one);
        flow.end_owned(flux::outcome::done);
        counts.started(sample::source_Listen);
        counts.finished(sample::source_Listen, flow, flux::outcome::done);
    }
    const flux::run_facts facts = facts_of(std::move(counts), {});
    const std::string text = flux::text_report(sample::program, facts);
    EXPECT_NE(text.find("\n      closed at the end of a flow: 2, first in One\n"), std::string::npos) << text;
    const std::string json = flux::json_report(sample::program, facts, "pool");
    EXPECT_NE(json.find("\"forgotten\": 2},\n  \"first_to_forget\": \"One\","), std::string::npos) << json;
}

TEST(Report, OfNothing)
{
    const flux::run_facts facts = facts_of(flux::path_counts(sample::program));
    const std::string json = flux::json_report(sample::program, facts, "pool");
    const std::string end = "  \"paths\": [],\n  \"path_times_left_out\": 0,\n  \"cut\": []\n}\n";
    EXPECT_TRUE(json.ends_with(end)) << json;
    EXPECT_EQ(flux::text_report(sample::program, facts).find("nan"), std::string::npos);
}

TEST(Report, AnUnknownNumberIsShownAsANumber)
{
    flux::path_counts counts(sample::program);
    counts.took(sample::function_Choose, flux::outcome::done, 77);
    const flux::run_facts facts = facts_of(std::move(counts));
    const std::string text = flux::text_report(sample::program, facts);
    EXPECT_NE(text.find("Choose: path 77"), std::string::npos);
    const std::string json = flux::json_report(sample::program, facts, "pool");
    EXPECT_NE(json.find("\"number\": 77, \"count\": 1, \"labels\": null"), std::string::npos) << json;
}

TEST(Report, TellsWhatFlowsOfAPathTook)
{
    flux::runner on(sample::program);
    flux::run_facts facts = some_facts(on);
    facts.path_times = {{{sample::source_Listen, flux::outcome::done, false, 1},
                         flux::histogram_counts({{64, 66, 2}}, 130, 2),
                         {100, 5, 20, 0, 10, 0},
                         0.0052}};
    facts.path_times_left_out = 17;
    const std::string json = flux::json_report(sample::program, facts, "pool");
    const std::string expected = R"(], "times": {"times": 2, "measured": 2, "sum_ns": 130, "p50_ns": 65, )"
                                 R"("p90_ns": 65, "p99_ns": 65, "steps": [[64, 2]]}, "ran_ns": 100, )"
                                 R"("beside_ns": 5, "parked_ns": 20, "waited_ns": 0, "queued_ns": 10, )"
                                 R"("branched_ns": 0, "ran_squares_us2": 0.005},)";
    EXPECT_NE(json.find(expected), std::string::npos) << json;
    EXPECT_NE(json.find("\"path_times_left_out\": 17,"), std::string::npos) << json;
}

TEST(Report, TellsReadersBesideWriters)
{
    flux::runner on(sample::program);
    flux::run_facts facts = some_facts(on);
    const flux::histogram_counts twice({{64, 66, 2}}, 130, 2);
    const flux::key_text key(std::string_view("a \"b\""));
    facts.constraint_times = {{{twice, {}}, {{}, twice}, {{0xbeef, 3, 1, key}, {1, 2, 0}}, 17}};
    const std::string none = R"({"times": 0, "measured": 0, "sum_ns": 0, "p50_ns": 0, "p90_ns": 0, "p99_ns": 0, )"
                             R"("steps": []})";
    const std::string two = R"({"times": 2, "measured": 2, "sum_ns": 130, "p50_ns": 65, "p90_ns": 65, "p99_ns": 65, )"
                            R"("steps": [[64, 2]]})";
    const std::string expected =
        R"("held_ns": 1500, "readers": {"taken": 4, "waited": 1, "waited_ns": 500000, "waits": )" + two +
        R"(, "holds": )" + none + R"(}, "writers": {"taken": 2, "waited": 1, "waited_ns": 1000000, "waits": )" + none +
        R"(, "holds": )" + two +
        R"(}, "keys": [{"key": "000000000000beef", "text": "a \"b\"", "times": 3, "surplus": 1}, )"
        R"({"key": "0000000000000001", "text": null, "times": 2, "surplus": 0}], )"
        R"("distinct_keys": 17})";
    const std::string json = flux::json_report(sample::program, facts, "pool");
    EXPECT_NE(json.find(expected), std::string::npos) << json;
    const std::string text = flux::text_report(sample::program, facts);
    EXPECT_NE(text.find("           6             2         1.500         0.065  shared\n"
                        "              read 4 times (2 waited, half of them for 0.1 us at most, 99 % for 0.1)\n"
                        "              changed 2 times, held half of them for 0.1 us at most, 99 % for 0.1\n"),
              std::string::npos)
        << text;
}

TEST(Report, EscapesNames)
{
    flux::program in = sample::program;
    in.name = "a\"b\\c\n";
    const std::string json = flux::json_report(in, {flux::path_counts(in), {}, {}}, "pool");
    EXPECT_NE(json.find(R"("program": "a\"b\\c\u000a")"), std::string::npos) << json;
}

TEST(Report, SumsUpManyPaths)
{
    flux::path_counts counts(sample::program);
    for (flux::path_number number = 0; number < 45; ++number) {
        flux::flow flow;
        flow.add_path(number);
        counts.started(sample::source_Listen);
        counts.finished(sample::source_Listen, flow, flux::outcome::done);
    }
    const std::string text = flux::text_report(sample::program, facts_of(std::move(counts)));
    EXPECT_NE(text.find("           5   11.11%  on 5 more paths\n"), std::string::npos);
}

} // namespace
