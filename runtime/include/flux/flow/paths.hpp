/// \file
/// The paths of flows and their numbers: how a number is read back.
///
/// Flow graphs are acyclic, so each path can be given a number and a flow finds its own by additions on the way (Ball
/// and Larus, "Optimally profiling and tracing programs", TOPLAS 16(4), 1994). The compiler numbers them (`paths.rs` of
/// its `ir`, which explains the order), generated code adds, and the tables of the program let the number be read back
/// from an exit towards the start: of the edges into a vertex the one with the largest offset not above the number was
/// taken; at a call the remainder by the callee's number of paths is the callee's own number.
///
/// A flow of a source is a call of the function that makes its values and then one of the function that runs it, so
/// its number is made of both as for any call: `made * radix + run`. Where these products would exceed `path_limit`,
/// the two are counted by themselves, as for any call that is cut.
#pragma once

#include "flux/flow/program.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace flux {

/// The largest count of paths: what a JSON number holds exactly.
inline constexpr path_number path_limit = path_number{1} << 53;

/// A source's place in the table of sources.
using source_number = std::size_t;

/// What is shown of a path, from its start to its end.
using path_labels = std::vector<const char *>;

/// The vertices that a path shows, from its start to its end.
using path_places = std::vector<std::uint32_t>;

/// What is shown of such a vertex; null where nothing is.
const char *label_at(const program &in, std::uint32_t place) noexcept;

/// How the flows of a source are numbered; the arrays are by the outcome of the flow.
struct source_paths {
    /// Whether the path of the making is counted by itself.
    bool cut = false;
    /// How many paths the function that runs the flow has to each exit.
    path_number radix[outcome_count] = {};
    /// How many paths flows have to each exit.
    path_number total[outcome_count] = {};
};

/// How the flows of this source are numbered.
source_paths paths_of(const program &in, const source_info &source) noexcept;

/// How many paths a function has to whichever exit, counted as those of a branch: to its first exit, then the second.
path_number paths_to_any(const path_function &of) noexcept;

/// The first number among those of the paths to this exit.
path_number first_to(const path_function &of, outcome exit) noexcept;

/// The path of this number among those from the start of a function to one of its exits; none where there is no such
/// path. O(length of the path · ways into a join).
std::optional<path_labels> decode(const program &in, function_number function, outcome exit, path_number number);
std::optional<path_places> decode_places(const program &in, function_number function, outcome exit, path_number number);

/// The path of this number among those of a source's flows to one of their exits; none where there is no such path.
std::optional<path_labels> decode_flow(const program &in, source_number source, outcome exit, path_number number);
/// The same, without the source where the tables have no vertex for it.
std::optional<path_places> decode_flow_places(const program &in, source_number source, outcome exit,
                                              path_number number);

} // namespace flux
