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

    // Appends the labels of the path, last first; false where there is no such path. Its depth is that of the calls.
    bool back_from(function_number function, outcome exit, path_number number)
    {
        const path_function &in = program_.path_functions[function];
        if (number >= in.paths[index_of(exit)]) {
            return false;
        }
        const path_vertex *at = &program_.path_vertices[in.exits[index_of(exit)]];
        while (at->kind != path_kind::start) {
            if (!show(*at, number)) {
                return false;
            }
            if (at->kind == path_kind::label && at->edge_count == 0) {
                return true; // what comes before is not known
            }
            const path_edge *taken = edge_taken(*at, number);
            if (taken == nullptr) {
                return false;
            }
            number -= taken->offset;
            at = &program_.path_vertices[taken->from];
        }
        return number == 0;
    }

    path_labels labels;

  private:
    // Appends what is shown of the vertex, and takes the callee's part out of the number.
    bool show(const path_vertex &vertex, path_number &number)
    {
        switch (vertex.kind) {
        case path_kind::start:
        case path_kind::join:
            return true;
        case path_kind::label:
            labels.push_back(vertex.label);
            return true;
        case path_kind::cut_done:
        case path_kind::cut_failed:
        case path_kind::cut_ended:
            labels.push_back(program_.path_functions[vertex.function].name);
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

} // namespace

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

std::optional<path_labels> decode(const program &in, function_number function, outcome exit, path_number number)
{
    walk back(in);
    if (!back.back_from(function, exit, number)) {
        return std::nullopt;
    }
    std::reverse(back.labels.begin(), back.labels.end());
    return std::move(back.labels);
}

std::optional<path_labels> decode_flow(const program &in, source_number source, outcome exit, path_number number)
{
    const source_info &from = in.sources[source];
    const source_paths paths = paths_of(in, from);
    const path_number radix = std::max(paths.radix[index_of(exit)], path_number{1});
    const bool made_is_counted = !paths.cut && from.produce_function != no_function;
    auto run = decode(in, from.run_function, exit, made_is_counted ? number % radix : number);
    auto made = made_is_counted ? decode(in, from.produce_function, outcome::done, number / radix)
                                : std::optional<path_labels>({from.node.name});
    if (!made || !run) {
        return std::nullopt;
    }
    made->insert(made->end(), run->begin(), run->end());
    return made;
}

} // namespace flux
