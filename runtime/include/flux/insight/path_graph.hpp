/// \file
/// The graph of a program as its flows take it: what paths show, and which of that comes after which. It is read off
/// the path tables, so the server needs no source to draw itself (`graph_page.hpp`).
///
/// Its vertices are those of the tables that are shown: nodes, lines of dispatches, error handlers; and the sources
/// that the tables have no vertex for. A function that is called at several places has its vertices once, so what comes
/// after it follows wherever it was called; what flows took is known exactly (`count`).
#pragma once

#include "flux/flow/path_counts.hpp"
#include "flux/flow/paths.hpp"
#include "flux/flow/program.hpp"
#include "flux/insight/report.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace flux {

/// The number of a vertex: that in the tables, or, of a source, the number of vertices there and that of the source.
using graph_vertex = std::uint32_t;

/// From one vertex to the next.
using graph_way = std::pair<graph_vertex, graph_vertex>;

/// How often flows came to a vertex, and how often they failed there.
struct vertex_count {
    std::uint64_t times = 0;
    std::uint64_t failed = 0;
};

/// What flows took of a graph.
struct graph_counts {
    std::map<graph_vertex, vertex_count> vertices;
    std::map<graph_way, std::uint64_t> ways;
};

/// The graph of one program.
class path_graph
{
  public:
    /// The program outlives it. O(vertices · edges). Throws `std::bad_alloc`.
    explicit path_graph(const program &of);

    /// All vertices, by their numbers. That a node failed is no vertex of its own.
    const std::vector<graph_vertex> &vertices() const noexcept { return vertices_; }

    /// All ways, by their numbers.
    const std::vector<graph_way> &ways() const noexcept { return ways_; }

    /// What is shown of a vertex.
    const char *label(graph_vertex of) const noexcept;

    /// Where its node is declared; null where it is no node's name.
    const node_info *node(graph_vertex of) const noexcept;

    /// What flows took, by the counts of this program's paths. Throws `std::bad_alloc`.
    graph_counts count(const path_counts &by) const;

  private:
    const program &program_;
    std::vector<graph_vertex> vertices_;
    std::vector<graph_way> ways_;
};

/// The graph with what flows took of it, as JSON:
///
///     {
///       "flux": "0.1.0",
///       "program": "image",
///       "strategy": "event",
///       "at_ms": 815001,                      of a clock that only goes forward: for rates
///       "started": 3, "ended": 2, "failed": 1,
///       "vertices": [                         `file` and `line` are those of a node's declaration, or are left out; so
///                                             are the times of its calls and which part of them went to what
///         {"id": 4, "label": "Compress", "file": "image.flux", "line": 9, "p50_ns": 1200, "p99_ns": 1500,
///          "shares": {"ran": 0.9, "parked": 0.1, "waited": 0, "queued": 0, "branched": 0},
///          "parked_for": {"read": 0.1}, "count": 1, "failed": 0,
///          "given": [                         how large the values are that it is given, after which node or source;
///                                             none where their types say it
///            {"from": "ReadInFromDisk", "p50_bytes": 101, "p99_bytes": 103, "largest_bytes": 103}
///          ]}
///       ],
///       "ways": [
///         {"from": 4, "to": 5, "count": 1}
///       ],
///       "paths": [                            those that were taken most, 20 at most
///         {"source": "Listen", "exit": "done", "number": 1, "count": 1, "labels": ["Listen", "Compress"]}
///       ],
///       "constraints": [
///         {"name": "cache", "taken": 4, "waited": 1, "waited_ns": 81250}
///       ],
///       "errors": [                           of nodes, most frequent first, 20 at most
///         {"name": "Ask", "meaning": "error 110 (Connection timed out)", "times": 3, "unhandled": 1}
///       ]
///     }
///
/// Throws `std::bad_alloc`.
std::string graph_json(const path_graph &graph, const program &of, const run_facts &facts, const char *strategy);

} // namespace flux
