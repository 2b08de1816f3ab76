#include "flux/insight/report.hpp"

#include "flux/error.hpp"
#include "flux/insight/formatted_text.hpp"
#include "flux/insight/json_text.hpp"
#include "flux/insight/taken_paths.hpp"
#include "flux/version.hpp"

#include <algorithm>
#include <cinttypes>
#include <numeric>
#include <string_view>
#include <utility>

namespace flux {
namespace {

/// Paths beyond this many are summed up in the text form.
constexpr std::size_t most_shown = 40;

source_counts sum_over_sources(const program &of, const path_counts &counts)
{
    source_counts sum;
    for (source_number source = 0; source < of.sources.size(); ++source) {
        sum += counts.of_source(source);
    }
    return sum;
}

// Those that were cancelled; at the end also those that were and have not done so.
std::uint64_t cancelled(const source_counts &counts, const run_facts &of) noexcept
{
    return counts.cancelled + (of.is_running ? 0 : counts.in_progress());
}

// The node that the first flow ended in which had forgotten a connection; null where none had.
const char *first_to_forget(const program &of, const source_counts &counts) noexcept
{
    return counts.first_forgot < of.nodes.size() ? of.nodes[counts.first_forgot].name : nullptr;
}

std::string chain(const std::optional<path_labels> &labels, path_number number)
{
    if (!labels) {
        return "path " + std::to_string(number);
    }
    std::string chained;
    std::string_view before = "(";
    for (const std::string_view label : *labels) {
        // The branches of a parallel step stand as in the program: A -> (B & C) -> D.
        const bool first = before == "(" || label == ")";
        chained += label == "&" || before == "&" ? " " : first ? "" : " -> ";
        chained += label;
        before = label;
    }
    return chained;
}

void add_flow_paths(formatted_text &into, const program &of, const std::vector<taken_path> &paths, std::uint64_t all)
{
    if (paths.empty()) {
        return;
    }
    into.add("\n%12s  %7s  path\n", "flows", "share");
    std::uint64_t left_out = 0;
    for (std::size_t i = 0; i < paths.size(); ++i) {
        if (i >= most_shown) {
            left_out += paths[i].count;
            continue;
        }
        const double share = 100 * static_cast<double>(paths[i].count) / static_cast<double>(all);
        const bool is_done = paths[i].exit == outcome::done;
        into.add("%12" PRIu64 "  %6.2f%%  %s%s%s\n", paths[i].count, share,
                 chain(labels_of_flow(of, paths[i]), paths[i].number).c_str(), is_done ? "" : "  -- ",
                 is_done ? "" : paths[i].end());
    }
    if (left_out != 0) {
        into.add("%12" PRIu64 "  %6.2f%%  on %zu more paths\n", left_out,
                 100 * static_cast<double>(left_out) / static_cast<double>(all), paths.size() - most_shown);
    }
}

void add_function_paths(formatted_text &into, const program &of, const std::vector<taken_path> &paths)
{
    if (paths.empty()) {
        return;
    }
    into.add("\n%12s  %s\n", "times", "path through a function that is counted by itself");
    for (std::size_t i = 0; i < std::min(paths.size(), most_shown); ++i) {
        into.add("%12" PRIu64 "  %s: %s  -- %s\n", paths[i].count, of.path_functions[paths[i].of].name,
                 chain(labels_of_function(of, paths[i]), paths[i].number).c_str(), outcome_name(paths[i].exit));
    }
    if (paths.size() > most_shown) {
        into.add("%12s  and %zu more paths\n", "", paths.size() - most_shown);
    }
}

// How often a constraint was taken in one mode, how long those waited who had to, and how long it was held.
std::string mode_text(const char *what, std::uint64_t taken, const hold_counts &times)
{
    formatted_text text;
    text.add("%s %" PRIu64 " times", what, taken);
    const auto add = [&](const char *before, const histogram_counts &of, const char *after) {
        if (of.times() != 0) {
            text.add("%s half of them for %.1f us at most, 99 %% for %.1f%s", before,
                     static_cast<double>(of.quantile(0.5)) / 1e3, static_cast<double>(of.quantile(0.99)) / 1e3,
                     after);
        }
    };
    add(", held", times.holds, "");
    add((" (" + std::to_string(times.waits.times()) + " waited,").c_str(), times.waits, ")");
    return text.all;
}

void add_constraints(formatted_text &into, const program &of, const run_facts &facts)
{
    if (facts.constraints.empty()) {
        return;
    }
    into.add("\n%12s  %12s  %12s  %12s  constraint\n", "taken", "waited", "ms waited", "us held each");
    for (constraint_number number = 0; number < facts.constraints.size(); ++number) {
        const constraint_totals &one = facts.constraints[number];
        into.add("%12" PRIu64 "  %12" PRIu64 "  %12.3f  %12.3f  %s\n", one.taken, one.waited,
                 static_cast<double>(one.waited_ns) / 1e6, facts.held_each_ns(number) / 1e3,
                 of.constraints[number].name);
        const bool is_of_both = one.taken_to_read != 0 && one.taken_to_read != one.taken;
        if (is_of_both && number < facts.constraint_times.size()) {
            const constraint_time_counts &times = facts.constraint_times[number];
            into.add("%12s  %s\n", "", mode_text("read", one.taken_to_read, times.readers).c_str());
            into.add("%12s  %s\n", "", mode_text("changed", one.taken - one.taken_to_read, times.writers).c_str());
        }
    }
}

// Where there are several loops; whether one of them has had far more than its part.
void add_by_loop(formatted_text &into, const char *what, std::span<const std::uint64_t> by_loop,
                 const char *if_lopsided)
{
    const std::uint64_t sum = std::accumulate(by_loop.begin(), by_loop.end(), std::uint64_t{0});
    if (by_loop.size() < 2 || sum == 0) {
        return;
    }
    into.add("\n%12" PRIu64 "  %s, by event loop:", sum, what);
    for (const std::uint64_t each : by_loop) {
        into.add(" %" PRIu64, each);
    }
    const std::uint64_t even = (sum + by_loop.size() - 1) / by_loop.size();
    into.add("%s\n", std::ranges::max(by_loop) > 2 * even ? if_lopsided : "");
}

void add_loops(formatted_text &into, const program &of, const loop_facts &loops)
{
    // A server that has little to do gives its flows to the first loop that is idle. But connections stay where they
    // are accepted: a loop that has far more of them than others may be busy alone.
    add_by_loop(into, "flows begun", loops.flows, "");
    add_by_loop(into, "connections accepted", loops.accepted, " -- lopsided");
    if (loops.stack_bytes != 0) {
        into.add("\n%12zu  KiB of stack, the most that a flow needed\n", loops.stack_bytes >> 10);
    }
    const char *before = "\n";
    const auto add_threads = [&](std::size_t most, const char *what_for) {
        if (most != 0) {
            into.add("%s%12zu  threads beside the event loops, the most at once, for %s\n", std::exchange(before, ""),
                     most, what_for);
        }
    };
    add_threads(loops.blocking_threads, "nodes that block");
    add_threads(loops.call_threads, "calls of files and names");
    add_threads(loops.wait_threads, "calls that wait for others");
    if (loops.holds.empty()) {
        return;
    }
    into.add("\n%12s  %12s  node that held its event loop for more than a millisecond\n", "times", "longest ms");
    for (const loop_hold &each : loops.holds) {
        into.add("%12" PRIu64 "  %12.1f  %s\n", each.times, static_cast<double>(each.longest.count()) / 1e6,
                 of.nodes[each.node].name);
    }
}

void add_stacks(formatted_text &into, const program &of, const std::vector<node_stack_mark> &stacks)
{
    if (stacks.empty()) {
        return;
    }
    into.add("\n%12s  %12s  node that has a stack for itself\n", "KiB used", "KiB");
    for (const node_stack_mark &each : stacks) {
        into.add("%12zu  %12zu  %s\n", each.used >> 10, each.size >> 10, of.nodes[each.node].name);
    }
}

void add_failures(formatted_text &into, const program &of, const std::vector<failure_total> &failures)
{
    if (failures.empty()) {
        return;
    }
    into.add("\n%12s  %12s  error\n", "times", "unhandled");
    for (std::size_t i = 0; i < std::min(failures.size(), most_shown); ++i) {
        const failure_total &each = failures[i];
        into.add("%12" PRIu64 "  %12" PRIu64 "  ", each.times, each.unhandled);
        if (each.node < of.nodes.size()) {
            const node_info &node = of.nodes[each.node];
            into.add("%s (%s:%u): %s\n", node.name, node.file, node.line, describe_error(each.error).c_str());
        } else {
            into.add("outside of nodes: %s\n", describe_error(each.error).c_str());
        }
    }
    if (failures.size() > most_shown) {
        into.add("%12s  %12s  and %zu more errors\n", "", "", failures.size() - most_shown);
    }
}

void add_abandoned(formatted_text &into, const program &of, const std::vector<straggler_group> &abandoned)
{
    if (abandoned.empty()) {
        return;
    }
    into.add("\n      flows that did not end:\n");
    for (const straggler_group &each : abandoned) {
        into.add("      %s\n", describe(of, each).c_str());
    }
}

// The name of a node, or null outside of nodes.
std::string json_name(const program &of, node_number node)
{
    return node < of.nodes.size() ? quoted(of.nodes[node].name) : "null";
}

std::string json_steps(const std::vector<step_count> &steps)
{
    formatted_text json;
    const char *separator = "";
    for (const step_count &each : steps) {
        json.add("%s[%" PRIu64 ", %" PRIu64 "]", std::exchange(separator, ", "), each.begin, each.times);
    }
    return "[" + json.all + "]";
}

// Of amounts in this unit.
std::string json_amounts(const histogram_counts &counts, const char *unit)
{
    formatted_text json;
    json.add("{\"times\": %" PRIu64 ", \"measured\": %" PRIu64 ", \"sum_%s\": %" PRIu64, counts.times(),
             counts.measured(), unit, counts.sum());
    for (const int percent : {50, 90, 99}) {
        json.add(", \"p%d_%s\": %" PRIu64, percent, unit, counts.quantile(percent / 100.0));
    }
    return json.all + ", \"steps\": " + json_steps(counts.steps()) + "}";
}

std::string json_times(const histogram_counts &counts)
{
    return json_amounts(counts, "ns");
}

// Members of an object: the whole time, and each kind of which there is any.
std::string json_divided(const divided_counts &of)
{
    std::string json = "\"whole\": " + json_times(of.whole);
    for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
        if (of.of[kind].sum() != 0) {
            const char *const name = time_kind_name(static_cast<time_kind>(kind));
            json += std::string(", \"") + name + "\": " + json_times(of.of[kind]);
        }
    }
    std::string reasons;
    for (std::size_t reason = 0; reason < park_reason_count; ++reason) {
        if (of.parked_for[reason].times() != 0) {
            const char *const name = park_reason_name(static_cast<park_reason>(reason));
            reasons += std::string(reasons.empty() ? "\"" : ", \"") + name + "\": " + json_times(of.parked_for[reason]);
        }
    }
    if (!reasons.empty()) {
        json += ", \"parked_for\": {" + reasons + "}";
    }
    return json;
}

void add_times(formatted_text &json, const program &of, const run_facts &facts)
{
    add_list(json, "flow_times", facts.source_times, ",", [&](const divided_counts &each) {
        json.add("\"source\": %s, %s", quoted(of.sources[each.number].node.name).c_str(), json_divided(each).c_str());
    });
    add_list(json, "node_times", facts.node_times, ",", [&](const divided_counts &each) {
        const node_info &node = of.nodes[each.number];
        json.add("\"name\": %s, \"file\": %s, \"line\": %u, %s", quoted(node.name).c_str(),
                 quoted(node.file).c_str(), node.line, json_divided(each).c_str());
    });
    add_list(json, "value_sizes", facts.value_sizes, ",", [&](const edge_size_counts &each) {
        json.add("\"from\": %s, \"to\": %s, \"bytes\": %s", quoted(origin_name(of, each.from)).c_str(),
                 quoted(of.nodes[each.to].name).c_str(), json_amounts(each.bytes, "bytes").c_str());
    });
}

// Those that read, or those that change.
void add_holds(formatted_text &json, const char *name, std::uint64_t taken, std::uint64_t waited,
               std::uint64_t waited_ns, const hold_counts &times)
{
    json.add(", \"%s\": {\"taken\": %" PRIu64 ", \"waited\": %" PRIu64 ", \"waited_ns\": %" PRIu64
             ", \"waits\": %s, \"holds\": %s}",
             name, taken, waited, waited_ns, json_times(times.waits).c_str(), json_times(times.holds).c_str());
}

void add_json_constraints(formatted_text &json, const program &of, const run_facts &facts)
{
    add_list(json, "constraints", facts.constraints, ",", [&](const constraint_totals &one) {
        const auto number = static_cast<std::size_t>(&one - facts.constraints.data());
        json.add("\"name\": %s, \"taken\": %" PRIu64 ", \"waited\": %" PRIu64 ", \"waited_ns\": %" PRIu64
                 ", \"timed\": %" PRIu64 ", \"held_ns\": %" PRIu64,
                 quoted(of.constraints[number].name).c_str(), one.taken, one.waited, one.waited_ns, one.timed,
                 one.held_ns);
        if (number < facts.constraint_times.size()) {
            const constraint_time_counts &times = facts.constraint_times[number];
            add_holds(json, "readers", one.taken_to_read, one.waited_to_read, one.waited_ns_to_read, times.readers);
            add_holds(json, "writers", one.taken - one.taken_to_read, one.waited - one.waited_to_read,
                      one.waited_ns - one.waited_ns_to_read, times.writers);
            json.add(", \"keys\": [");
            const char *separator = "";
            for (const hot_key &each : times.keys) {
                const std::string text = each.text.is_known() ? flux::quoted(each.text.shown()) : "null";
                json.add("%s{\"key\": \"%016" PRIx64 "\", \"text\": %s, \"times\": %" PRIu64
                         ", \"surplus\": %" PRIu64 "}",
                         std::exchange(separator, ", "), each.key, text.c_str(), each.times, each.surplus);
            }
            json.add("], \"distinct_keys\": %" PRIu64, times.distinct_keys);
            if (times.reuse.first_uses != 0) {
                json.add(", \"reuse\": {\"first_uses\": %" PRIu64 ", \"distances\": %s}", times.reuse.first_uses,
                         json_steps(times.reuse.distances).c_str());
            }
        }
    });
}

// `all` flows have come to their end.
void add_json_paths(formatted_text &json, const program &of, const run_facts &facts, double all)
{
    add_list(json, "paths", paths_of_flows(of, facts.counts), ",", [&](const taken_path &path) {
        json.add("\"source\": %s, \"exit\": \"%s\", \"number\": %" PRIu64 ", \"count\": %" PRIu64
                 ", \"share\": %.6f, \"labels\": %s",
                 quoted(of.sources[path.of].node.name).c_str(), path.end(), path.number, path.count,
                 static_cast<double>(path.count) / all, json_texts(labels_of_flow(of, path)).c_str());
        const flow_end end{path.of, path.exit, path.is_input_end, path.number};
        const auto timed = std::ranges::find(facts.path_times, end, &path_time_counts::of);
        if (timed == facts.path_times.end()) {
            return;
        }
        json.add(", \"times\": %s", json_times(timed->whole).c_str());
        for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
            json.add(", \"%s_ns\": %" PRIu64, time_kind_name(static_cast<time_kind>(kind)), timed->sums_ns[kind]);
        }
    });
    json.add("  \"path_times_left_out\": %" PRIu64 ",\n", facts.path_times_left_out);
}

std::string json_flows(const source_counts &counts, const run_facts &of)
{
    formatted_text json;
    json.add("{\"started\": %" PRIu64, counts.started);
    for (const outcome exit : all_outcomes) {
        json.add(", \"%s\": %" PRIu64, outcome_name(exit), counts.finished[index_of(exit)]);
    }
    json.add(", \"cancelled\": %" PRIu64 "}", cancelled(counts, of));
    return json.all;
}

// How long it has run, and what of that took processors.
void add_json_processors(formatted_text &json, const run_facts &facts)
{
    const auto seconds = [](std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); };
    const loop_sleeps &slept = facts.loops.sleeps;
    json.add("  \"seconds\": %.3f,\n  \"cpu_seconds\": %.3f,\n  \"source_cpu_seconds\": %.3f,\n"
             "  \"measuring_cpu_seconds\": %.6f,\n"
             "  \"thread_cost_ns\": {\"alone\": %" PRId64 ", \"beside\": %" PRId64 "},\n"
             "  \"loop_sleeps\": {\"times\": %" PRIu64 ", \"measured\": %" PRIu64 ", \"worked_ns\": %" PRId64 "},\n",
             seconds(facts.time), seconds(facts.cpu_time), seconds(facts.source_cpu_time),
             seconds(facts.measuring_cpu_time), std::int64_t{facts.thread_cost.alone.count()},
             std::int64_t{facts.thread_cost.beside.count()}, slept.times, slept.measured,
             std::int64_t{slept.worked.count()});
}

} // namespace

double run_facts::held_each_ns(constraint_number number) const noexcept
{
    const auto mean_of = [](std::uint64_t sum_ns, std::uint64_t times) {
        return static_cast<double>(sum_ns) / static_cast<double>(std::max<std::uint64_t>(times, 1));
    };
    if (number < constraint_times.size()) {
        const histogram_counts &read = constraint_times[number].readers.holds;
        const histogram_counts &changed = constraint_times[number].writers.holds;
        return mean_of(read.sum() + changed.sum(), read.times() + changed.times());
    }
    return mean_of(constraints[number].held_ns, constraints[number].timed);
}

const char *origin_name(const program &of, edge_origin from) noexcept
{
    return from < of.nodes.size() ? of.nodes[from].name : of.sources[from - of.nodes.size()].node.name;
}

std::string text_report(const program &of, const run_facts &facts)
{
    const path_counts &counts = facts.counts;
    const source_counts sum = sum_over_sources(of, counts);
    formatted_text report;
    report.add("flux: %s: %" PRIu64 " flows: %" PRIu64 " done, %" PRIu64 " failed, %" PRIu64
               " ended by an error handler, %" PRIu64 " cancelled",
               of.name, sum.started, sum.finished[0], sum.finished[1], sum.finished[2], cancelled(sum, facts));
    if (facts.is_running) {
        report.add(", %" PRIu64 " in progress", sum.in_progress());
    }
    report.all += '\n';
    report.add("      %" PRIu64 " calls, %" PRIu64 " dispatches, %" PRIu64 " acquisitions, %" PRIu64 " parks, %" PRIu64
               " failures; %" PRIu64 " times a source had nothing\n",
               sum.counted.calls, sum.counted.dispatches, sum.counted.acquisitions, sum.counted.parks,
               sum.counted.failures, sum.nothing);
    if (sum.counted.forgotten != 0) {
        const char *const first = first_to_forget(of, sum);
        report.add("      closed at the end of a flow: %" PRIu64 "%s%s\n", sum.counted.forgotten,
                   first == nullptr ? "" : ", first in ", first == nullptr ? "" : first);
    }
    if (counts.lost() != 0) {
        report.add("      %" PRIu64 " paths were not counted for want of memory\n", counts.lost());
    }
    add_flow_paths(report, of, paths_of_flows(of, counts), sum.all_finished());
    add_function_paths(report, of, paths_of_functions(of, counts));
    add_failures(report, of, facts.failures);
    add_abandoned(report, of, facts.abandoned);
    add_constraints(report, of, facts);
    add_loops(report, of, facts.loops);
    add_stacks(report, of, facts.stacks);
    return report.all;
}

std::string json_report(const program &of, const run_facts &facts, const char *strategy)
{
    const path_counts &counts = facts.counts;
    const source_counts sum = sum_over_sources(of, counts);
    const double all = static_cast<double>(sum.all_finished());
    const char *const first = first_to_forget(of, sum);
    formatted_text json;
    json.add("{\n  \"format\": 1,\n  \"flux\": \"%s\",\n  \"program\": %s,\n  \"strategy\": \"%s\",\n", version,
             quoted(of.name).c_str(), strategy);
    add_json_processors(json, facts);
    json.add("  \"flows\": %s,\n", json_flows(sum, facts).c_str());
    json.add("  \"counters\": {\"calls\": %" PRIu64 ", \"dispatches\": %" PRIu64 ", \"acquisitions\": %" PRIu64
             ", \"parks\": %" PRIu64 ", \"failures\": %" PRIu64 ", \"forgotten\": %" PRIu64 "},\n"
             "  \"first_to_forget\": %s,\n  \"lost\": %" PRIu64 ",\n",
             sum.counted.calls, sum.counted.dispatches, sum.counted.acquisitions, sum.counted.parks,
             sum.counted.failures, sum.counted.forgotten, first == nullptr ? "null" : quoted(first).c_str(),
             counts.lost());
    add_list(json, "sources", of.sources, ",", [&](const source_info &source) {
        const source_counts own = counts.of_source(static_cast<source_number>(&source - of.sources.data()));
        json.add("\"name\": %s, \"file\": %s, \"line\": %u, \"nothing\": %" PRIu64 ", \"flows\": %s",
                 quoted(source.node.name).c_str(), quoted(source.node.file).c_str(), source.node.line, own.nothing,
                 json_flows(own, facts).c_str());
    });
    add_json_constraints(json, of, facts);
    add_list(json, "queues", facts.loops.queues, ",", [&](const queue_length &each) {
        json.add("\"where\": %s, \"waiting\": %zu", flux::quoted(each.where).c_str(), each.waiting);
    });
    json.add("  \"memory\": {\"flows\": %zu, \"flow_bytes\": %zu, \"stacks\": %zu},\n  \"stack_bytes\": %zu,\n",
             facts.flows_made, facts.flow_bytes, facts.loops.stacks, facts.loops.stack_bytes);
    add_list(json, "stacks", facts.stacks, ",", [&](const node_stack_mark &each) {
        json.add("\"name\": %s, \"bytes\": %zu, \"used\": %zu", quoted(of.nodes[each.node].name).c_str(), each.size,
                 each.used);
    });
    json.add("  \"blocking_threads\": %zu,\n  \"call_threads\": %zu,\n"
             "  \"wait_threads\": %zu,\n  \"flows_begun\": %s,\n  \"accepted\": %s,\n",
             facts.loops.blocking_threads, facts.loops.call_threads,
             facts.loops.wait_threads, json_numbers(facts.loops.flows).c_str(),
             json_numbers(facts.loops.accepted).c_str());
    add_list(json, "holds", facts.loops.holds, ",", [&](const loop_hold &each) {
        json.add("\"name\": %s, \"times\": %" PRIu64 ", \"longest_ns\": %" PRIu64,
                 quoted(of.nodes[each.node].name).c_str(), each.times,
                 static_cast<std::uint64_t>(each.longest.count()));
    });
    add_list(json, "failures", facts.failures, ",", [&](const failure_total &each) {
        json.add("\"name\": %s, \"code\": %d, \"meaning\": %s, \"times\": %" PRIu64 ", \"unhandled\": %" PRIu64,
                 json_name(of, each.node).c_str(), each.error, quoted(describe_error(each.error).c_str()).c_str(),
                 each.times, each.unhandled);
    });
    add_list(json, "abandoned", facts.abandoned, ",", [&](const straggler_group &each) {
        json.add("\"source\": %s, \"name\": %s, \"flows\": %zu, \"longest_ms\": %" PRIu64,
                 quoted(of.sources[each.source].node.name).c_str(), json_name(of, each.node).c_str(), each.flows,
                 static_cast<std::uint64_t>(each.longest.count()));
    });
    add_times(json, of, facts);
    add_json_paths(json, of, facts, all);
    add_list(json, "cut", paths_of_functions(of, counts), "", [&](const taken_path &path) {
        json.add("\"function\": %s, \"exit\": \"%s\", \"number\": %" PRIu64 ", \"count\": %" PRIu64 ", \"labels\": %s",
                 quoted(of.path_functions[path.of].name).c_str(), outcome_name(path.exit), path.number, path.count,
                 json_texts(labels_of_function(of, path)).c_str());
    });
    return json.all + "}\n";
}

} // namespace flux
