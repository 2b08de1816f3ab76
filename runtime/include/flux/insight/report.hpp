/// \file
/// What a server says of how it runs, or ran: flows, counters, and the paths they took, most frequent first.
///
/// The JSON form is one object:
///
///     {
///       "format": 1,                          of this object: what a later one adds is no other format
///       "flux": "0.1.0",                      the runtime's version
///       "program": "image",
///       "strategy": "pool",
///       "seconds": 12.500,                    how long it has run
///       "cpu_seconds": 3.750,                 how long its threads have had a processor, together
///       "source_cpu_seconds": 0.150,          of these, the threads of sources: those of connections are on loops
///       "measuring_cpu_seconds": 0.010,       and about so long the flows that are timed had one read what they had
///       "thread_cost_ns": {                   what it takes here to make a thread, to begin and to end it: by a few
///         "alone": 10000, "beside": 21000},   tries on one processor, and where another one does so, too; 0: unknown
///       "loop_sleeps": {                      how often event loops slept, and how long processors worked for those
///         "times": 610, "measured": 10,       sleeps that were measured, before and after
///         "worked_ns": 52000},
///       "flows": {"started": 3, "done": 1, "failed": 1, "ended": 1, "cancelled": 0},
///       "counters": {"calls": 14, "dispatches": 2, "acquisitions": 4, "parks": 3, "failures": 2, "forgotten": 1},
///       "first_to_forget": "Answer",          the node that the first flow ended in which had forgotten a connection:
///                                             that was closed; null where none had
///       "lost": 0,                            paths that could not be counted for want of memory
///       "sources": [
///         {"name": "Listen", "file": "image.flux", "line": 20, "nothing": 0, "flows": {as above}}
///       ],
///       "constraints": [                      the time that flows waited, together; a keyed one's keys together;
///                                             one of 61 holds is timed, `held_ns` is how long those were together; in
///                                             `holds` each of them stands for those since the one before
///         {"name": "cache", "taken": 4, "waited": 1, "waited_ns": 81250, "timed": 1, "held_ns": 2100,
///          "readers": {                       those that read; `waits` and `holds` are histograms as of nodes, below
///            "taken": 3, "waited": 0, "waited_ns": 0, "waits": {…}, "holds": {…}},
///          "writers": {as above},
///          "keys": [                          those that flows waited for most, 32 at most, as numbers that stand for
///                                             them; `text` is the beginning of a string, or a number in decimal, and
///                                             null for other keys; `times` is too high by `surplus` at most
///                                             (`flow/hot_keys.hpp`). None with --flux-keys=off
///            {"key": "5851f42d4c957f2d", "text": "alice", "times": 12, "surplus": 0}
///          ],
///          "distinct_keys": 5120,             how many keys were taken, with a standard error of 3.3 %
///          "reuse": {"first_uses": 5000,      how many others came between two uses of a key: pairs of the least
///            "distances": [[0, 70], [1, 20]]}}    number of a step, and how many uses are in it
///                                             (`flow/reuse_distances.hpp`); left out where there are no keys
///       ],
///       "queues": [                           what waits now: flows and branches at event loops or for a thread of the
///                                             pool, calls for their threads, and peers to be accepted
///         {"where": "loop 0", "waiting": 2}, {"where": "listener 127.0.0.1:80", "waiting": 0}
///       ],
///       "memory": {                           of flows in progress, and kept for the next: how many were made, and
///                                             their bytes; their stacks on event loops
///         "flows": 12, "flow_bytes": 9216, "stacks": 4},
///       "stack_bytes": 8192,                  the most that a flow needed, where flows are fibers; else 0
///       "stacks": [                           of nodes that ask for a stack: its size, and the most that was used
///         {"name": "Render", "bytes": 8388608, "used": 53248}
///       ],
///       "blocking_threads": 3,                beside event loops, for nodes that block: the most at once
///       "call_threads": 2,                    the same, for calls of other nodes that end by themselves
///       "wait_threads": 1,                    and for those that wait for others
///       "flows_begun": [1200, 1180],          on each event loop
///       "accepted": [40, 40],                 connections, by each event loop
///       "holds": [                            nodes that held their event loop for more than a millisecond, and for
///                                             how long at least, the longest first
///         {"name": "Compress", "times": 3, "longest_ns": 21000000}
///       ],
///       "failures": [                         of nodes, most frequent first; unhandled where no handler took the error
///                                             and that was the end of a flow; `name` is null outside of nodes
///         {"name": "Ask", "code": 110, "meaning": "error 110 (Connection timed out)", "times": 3, "unhandled": 1}
///       ],
///       "abandoned": [                        flows that did not end, where most are first; `name` is null for those
///                                             that had not begun
///         {"source": "Listen", "name": "Ask", "flows": 2, "longest_ms": 31000}
///       ],
///       "flow_times": [                       of sources, their flows: from when a flow was made to its end, whole and
///                                             by what the time went to. So many of these `times` were `measured`
///                                             (`flow/flow_timing.hpp`); each stands for those that were not, too
///         {"source": "Listen", "whole": {"times": 66, "measured": 65, "sum_ns": 81250, "p50_ns": 1200,
///          "p90_ns": 1300, "p99_ns": 1500, "steps": [[1152, 40], [1184, 26]]}, "ran": {…}, "beside": {…},
///          "parked": {…}, "waited": {…}, "queued": {…}, "branched": {…},   a kind is left out where it took no time
///          "parked_for": {"read": {…}}}       what `parked` was for (`flow/park_reason.hpp`), of those times alone
///                                             that have some of it; left out where there is none
///       ],
///       "node_times": [                       of nodes, each call in these flows; `steps` are pairs of the shortest
///                                             time of a step, in nanoseconds, and how many times are in it
///         {"name": "Compress", "file": "image.flux", "line": 9, "whole": {as above}, "ran": {…}, …}
///       ],
///       "value_sizes": [                      of the edges of the graph, the values that the node `to` was given after
///                                             `from`, a node or a source, in these flows: together, in bytes
///                                             (`flow/value_size.hpp`). Edges are left out whose values have one size
///                                             by their types (`flow/edge_sizes.hpp`)
///         {"from": "ReadRequest", "to": "Compress", "bytes": {"times": 66, "measured": 65, "sum_bytes": 6600,
///          "p50_bytes": 101, "p90_bytes": 101, "p99_bytes": 101, "steps": [[100, 66]]}}
///       ],
///       "paths": [                            of whole flows, most frequent first; what those took that were timed,
///                                             and what that went to, together, for those 256 paths that timed flows
///                                             took first (`flow/path_times.hpp`)
///         {"source": "Listen", "exit": "done", "number": 1, "count": 1, "share": 0.333333,
///          "labels": ["Listen", "ReadRequest", "CheckCache", "Handler:[_, _, hit]", "Write", "Complete"],
///          "times": {as "whole" above}, "ran_ns": 61250, "beside_ns": 0, "parked_ns": 20000, "waited_ns": 0,
///          "queued_ns": 0, "branched_ns": 0}
///       ],
///       "path_times_left_out": 0,             flows that were timed on other paths, with those that they stand for
///       "cut": [                              of functions that are counted by themselves, most frequent first
///         {"function": "Listen_produce", "exit": "failed", "number": 0, "count": 2, "labels": ["Listen", "ERROR"]}
///       ]
///     }
///
/// The labels "(", "&" and ")" stand around the branches of a parallel step.
///
/// Of a server that runs, those flows that were started and that did not end in any of these ways are in progress.
///
/// A flow that was cancelled, and then came to its end through its error handlers, is counted as cancelled, and its
/// path with the exit that it took. Numbers are exact up to 2^53; `share` is the share of the flows that came to their
/// end. `labels` is null for a number that the program's tables do not know.
#pragma once

#include "flux/flow/constraint_counts.hpp"
#include "flux/flow/failure_counts.hpp"
#include "flux/flow/flow_times.hpp"
#include "flux/flow/node_stacks.hpp"
#include "flux/strategy/loop_facts.hpp"
#include "flux/strategy/stragglers.hpp"
#include "flux/flow/path_counts.hpp"
#include "flux/insight/span_exporter.hpp"
#include "flux/insight/thread_cost.hpp"

#include <string>
#include <vector>

namespace flux {

/// What is known of a run.
struct run_facts {
    path_counts counts;
    /// One for each constraint of the program.
    std::vector<constraint_totals> constraints;
    loop_facts loops;
    /// Most frequent first.
    std::vector<failure_total> failures = {};
    /// Flows that did not end, not even when they were cancelled.
    std::vector<straggler_group> abandoned = {};
    /// The most first.
    std::vector<node_stack_mark> stacks = {};
    /// As far as the flows that were timed show it.
    std::vector<divided_counts> node_times = {};
    std::vector<divided_counts> source_times = {};
    /// Of those edges that have sizes to tell.
    std::vector<edge_size_counts> value_sizes = {};
    /// Those that have room (`flow/path_times.hpp`), and how many flows took others.
    std::vector<path_time_counts> path_times = {};
    std::uint64_t path_times_left_out = 0;
    /// One for each constraint of the program, or none.
    std::vector<constraint_time_counts> constraint_times = {};
    /// How long the server has run, and how long it has had a processor, each of its threads.
    std::chrono::nanoseconds time{0};
    std::chrono::nanoseconds cpu_time{0};
    /// Of how many flows spans were sent; nothing where none are kept.
    std::optional<span_counts> spans = {};
    /// Flows that have not ended are in progress: they were not cancelled.
    bool is_running = false;
    /// How many flows were made, for those in progress or kept for the next, and their memory, in bytes.
    std::size_t flows_made = 0;
    std::size_t flow_bytes = 0;
    /// Of `cpu_time`, that of the threads of sources.
    std::chrono::nanoseconds source_cpu_time{0};
    /// And about so long it read what threads had had, for flows that are timed.
    std::chrono::nanoseconds measuring_cpu_time{0};
    /// What threads take here, where that was tried.
    flux::thread_cost thread_cost{};

    /// How long a hold of the constraint of this number took, in the mean, as far as those that were timed show it.
    double held_each_ns(constraint_number number) const noexcept;
};

/// The node or the source that an edge comes from.
const char *origin_name(const program &of, edge_origin from) noexcept;

/// The report for people.
std::string text_report(const program &of, const run_facts &facts);

/// The report for programs, as above; `strategy` is the name of what runs the flows.
std::string json_report(const program &of, const run_facts &facts, const char *strategy);

} // namespace flux
