#include "flux/flow/paths.hpp"

#include <algorithm>

namespace flux {
namespace {

bool exceeds_limit(path_number left, path_number right) noexcept
{
    return right != 0 && left > path_limit / right;
}

/// The exit that a number of all of a function's paths leads to; the number becomes that among the paths to it.
outcome exit_of(const path_function &of, path_number &number) noexcept
{
    for (const outcome exit : {outcome::ended, outcome::failed}) {
        if (number >= first_to(of, exit)) {
            number -= first_to(of, exit);
            return exit;
        }
    }
    return outcome::done;
}

/// Reads a path back, from its end to its start.
class walk
{
  public:
    explicit walk(const program &in) noexcept : program_(in) {}

    // Appends what the path shows, last first; false where there is no such path. Its depth is that of the calls.
    bool back_from(function_number function, outcome exit, path_number number)
    {
        const path_function &in = program_.path_functions[function];
        if (number >= in.paths[index_of(exit)]) {
            return false;
        }
        std::uint32_t at = in.exits[index_of(exit)];
        while (program_.path_vertices[at].kind != path_kind::start) {
            const path_vertex &vertex = program_.path_vertices[at];
            if (!show(at, number)) {
                return false;
            }
            if (vertex.kind == path_kind::label && vertex.edge_count == 0) {
                return true; // what comes before is not known
            }
            const path_edge *taken = edge_taken(vertex, number);
            if (taken == nullptr) {
                return false;
            }
            number -= taken->offset;
            at = taken->from;
        }
        return number == 0;
    }

    path_places places;

  private:
    // Appends the vertex where it is shown, and takes the callee's part out of the number.
    bool show(std::uint32_t at, path_number &number)
    {
        const path_vertex &vertex = program_.path_vertices[at];
        switch (vertex.kind) {
        case path_kind::start:
        case path_kind::join:
            return true;
        case path_kind::label:
        case path_kind::cut_done:
        case path_kind::cut_failed:
        case path_kind::cut_ended:
            places.push_back(at);
            return true;
        case path_kind::call_done:
            return show_call(vertex.function, outcome::done, number);
        case path_kind::call_failed:
            return show_call(vertex.function, outcome::failed, number);
        case path_kind::call_ended:
            return show_call(vertex.function, outcome::ended, number);
        case path_kind::call_any:
            return show_branch(vertex.function, number);
        }
        return false;
    }

    bool show_call(function_number callee, outcome exit, path_number &number)
    {
        const path_number radix = std::max(program_.path_functions[callee].paths[index_of(exit)], path_number{1});
        const path_number own = number % radix;
        number /= radix;
        return back_from(callee, exit, own);
    }

    bool show_branch(function_number branch, path_number &number)
    {
        const path_function &of = program_.path_functions[branch];
        const path_number radix = std::max(paths_to_any(of), path_number{1});
        path_number own = number % radix;
        number /= radix;
        const outcome exit = exit_of(of, own);
        return back_from(branch, exit, own);
    }

    // Of the edges into the vertex, the one with the largest offset not above the number.
    const path_edge *edge_taken(const path_vertex &vertex, path_number number) const
    {
        const auto edges = program_.path_edges.subspan(vertex.first_edge, vertex.edge_count);
        const auto is_below = [](path_number left, const path_edge &right) { return left < right.offset; };
        const auto above = std::upper_bound(edges.begin(), edges.end(), number, is_below);
        return above == edges.begin() ? nullptr : &*(above - 1);
    }

    const program &program_;
};

path_labels labels_at(const program &in, const path_places &places)
{
    path_labels labels;
    for (const std::uint32_t place : places) {
        labels.push_back(label_at(in, place));
    }
    return labels;
}

// Whether the numbers of a source's flows have the path of the making in them.
bool counts_making(const source_paths &paths, const source_info &from) noexcept
{
    return !paths.cut && from.produce_function != no_function;
}

} // namespace

const char *label_at(const program &in, std::uint32_t place) noexcept
{
    const path_vertex &vertex = in.path_vertices[place];
    switch (vertex.kind) {
    case path_kind::label:
        return vertex.label;
    case path_kind::cut_done:
    case path_kind::cut_failed:
    case path_kind::cut_ended:
        return in.path_functions[vertex.function].name;
    default:
        return nullptr;
    }
}

source_paths paths_of(const program &in, const source_info &source) noexcept
{
    const path_function &run = in.path_functions[source.run_function];
    path_number made = 1;
    if (source.produce_function != no_function) {
        made = std::max(in.path_functions[source.produce_function].paths[index_of(outcome::done)], path_number{1});
    }
    source_paths paths;
    for (const outcome exit : all_outcomes) {
        paths.cut = paths.cut || exceeds_limit(made, run.paths[index_of(exit)]);
    }
    for (const outcome exit : all_outcomes) {
        const path_number radix = run.paths[index_of(exit)];
        paths.radix[index_of(exit)] = radix;
        paths.total[index_of(exit)] = paths.cut ? radix : made * radix;
    }
    return paths;
}

path_number paths_to_any(const path_function &of) noexcept
{
    return first_to(of, outcome::ended) + of.paths[index_of(outcome::ended)];
}

path_number first_to(const path_function &of, outcome exit) noexcept
{
    path_number before = 0;
    for (std::size_t earlier = 0; earlier < index_of(exit); ++earlier) {
        before += of.paths[earlier];
    }
    return before;
}

std::optional<path_places> decode_places(const program &in, function_number function, outcome exit, path_number number)
{
    walk back(in);
    if (!back.back_from(function, exit, number)) {
        return std::nullopt;
    }
    std::reverse(back.places.begin(), back.places.end());
    return std::move(back.places);
}

std::optional<path_labels> decode(const program &in, function_number function, outcome exit, path_number number)
{
    const std::optional<path_places> places = decode_places(in, function, exit, number);
    return places ? std::optional(labels_at(in, *places)) : std::nullopt;
}

std::optional<path_places> decode_flow_places(const program &in, source_number source, outcome exit, path_number number)
{
    const source_info &from = in.sources[source];
    const source_paths paths = paths_of(in, from);
    if (!counts_making(paths, from)) {
        return decode_places(in, from.run_function, exit, number);
    }
    const path_number radix = std::max(paths.radix[index_of(exit)], path_number{1});
    const auto run = decode_places(in, from.run_function, exit, number % radix);
    auto made = decode_places(in, from.produce_function, outcome::done, number / radix);
    if (!made || !run) {
        return std::nullopt;
    }
    made->insert(made->end(), run->begin(), run->end());
    return made;
}

std::optional<path_labels> decode_flow(const program &in, source_number source, outcome exit, path_number number)
{
    const std::optional<path_places> places = decode_flow_places(in, source, exit, number);
    if (!places) {
        return std::nullopt;
    }
    const source_info &from = in.sources[source];
    path_labels labels = labels_at(in, *places);
    if (!counts_making(paths_of(in, from), from)) {
        labels.insert(labels.begin(), from.node.name);
    }
    return labels;
}

} // namespace flux
