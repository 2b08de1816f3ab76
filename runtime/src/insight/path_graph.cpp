#include "flux/insight/path_graph.hpp"

#include "flux/error.hpp"
#include "flux/insight/json_text.hpp"
#include "flux/insight/taken_paths.hpp"
#include "flux/moment.hpp"
#include "flux/version.hpp"

#include <algorithm>
#include <cinttypes>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace flux {
namespace {

/// So many paths and errors are listed at most.
constexpr std::size_t most_listed = 20;

// What a path shows where a node failed.
bool is_error(const path_vertex &of) noexcept
{
    return of.kind == path_kind::label && of.label == std::string_view("ERROR");
}

bool is_shown(const program &in, std::uint32_t vertex) noexcept
{
    return label_at(in, vertex) != nullptr && !is_error(in.path_vertices[vertex]);
}

graph_vertex vertex_of_source(const program &in, std::size_t source) noexcept
{
    return static_cast<graph_vertex>(in.path_vertices.size() + source);
}

std::span<const path_edge> edges_into(const program &in, std::uint32_t vertex) noexcept
{
    const path_vertex &into = in.path_vertices[vertex];
    return in.path_edges.subspan(into.first_edge, into.edge_count);
}

/// Finds what comes before a vertex: backwards, into the functions that were called, and out of their starts to
/// wherever they are called.
class backward_search
{
  public:
    explicit backward_search(const program &in) : program_(in)
    {
        for (std::uint32_t vertex = 0; vertex < in.path_vertices.size(); ++vertex) {
            if (is_call(in.path_vertices[vertex].kind)) {
                calls_.emplace(in.path_vertices[vertex].function, vertex);
            }
        }
        for (function_number function = 0; function < in.path_functions.size(); ++function) {
            for (const std::uint32_t exit : in.path_functions[function].exits) {
                find_start(function, exit);
            }
        }
    }

    // The vertices that may be taken just before this one.
    std::set<graph_vertex> before(graph_vertex vertex)
    {
        seen_.clear();
        found_.clear();
        follow_edges_into(vertex);
        return found_;
    }

  private:
    static bool is_call(path_kind kind) noexcept
    {
        return kind == path_kind::call_done || kind == path_kind::call_failed || kind == path_kind::call_ended ||
               kind == path_kind::call_any;
    }

    void find_start(function_number function, std::uint32_t vertex)
    {
        if (!known_.insert(vertex).second) {
            return;
        }
        if (program_.path_vertices[vertex].kind == path_kind::start) {
            starts_.emplace(vertex, function);
        }
        for (const path_edge &each : edges_into(program_, vertex)) {
            find_start(function, each.from);
        }
    }

    void follow_edges_into(std::uint32_t vertex)
    {
        for (const path_edge &each : edges_into(program_, vertex)) {
            follow(each.from);
        }
    }

    void follow_exit(function_number function, outcome exit)
    {
        const path_function &of = program_.path_functions[function];
        if (of.paths[index_of(exit)] != 0) {
            follow(of.exits[index_of(exit)]);
        }
    }

    void follow(std::uint32_t vertex)
    {
        if (!seen_.insert(vertex).second) {
            return;
        }
        if (is_shown(program_, vertex)) {
            found_.insert(vertex);
            return;
        }
        const path_vertex &at = program_.path_vertices[vertex];
        switch (at.kind) {
        case path_kind::start:
            return follow_start(vertex);
        case path_kind::call_done:
            return follow_exit(at.function, outcome::done);
        case path_kind::call_failed:
            return follow_exit(at.function, outcome::failed);
        case path_kind::call_ended:
            return follow_exit(at.function, outcome::ended);
        case path_kind::call_any:
            std::ranges::for_each(all_outcomes, [&](outcome exit) { follow_exit(at.function, exit); });
            return;
        default:
            return follow_edges_into(vertex);
        }
    }

    void follow_start(std::uint32_t vertex)
    {
        const auto start = starts_.find(vertex);
        if (start == starts_.end()) {
            return;
        }
        const auto [first, last] = calls_.equal_range(start->second);
        std::for_each(first, last, [&](const auto &call) { follow_edges_into(call.second); });
        for (std::size_t number = 0; number < program_.sources.size(); ++number) {
            const source_info &source = program_.sources[number];
            if (source.run_function != start->second) {
                continue;
            }
            if (source.produce_function == no_function) {
                found_.insert(vertex_of_source(program_, number));
            } else {
                follow_exit(source.produce_function, outcome::done);
            }
        }
    }

    const program &program_;
    // Of each vertex that a function starts with, the function; and where a function is called.
    std::map<std::uint32_t, function_number> starts_;
    std::multimap<function_number, std::uint32_t> calls_;
    std::set<std::uint32_t> known_;
    std::set<std::uint32_t> seen_;
    std::set<graph_vertex> found_;
};

// Flows came along a path.
void add_path(const program &of, const shown_vertices &path, std::optional<graph_vertex> from, std::uint64_t times,
              graph_counts &to)
{
    if (from) {
        to.vertices[*from].times += times;
    }
    for (const std::uint32_t vertex : path) {
        if (is_error(of.path_vertices[vertex])) {
            if (from) {
                to.vertices[*from].failed += times;
            }
            continue;
        }
        to.vertices[vertex].times += times;
        if (from) {
            to.ways[{*from, vertex}] += times;
        }
        from = vertex;
    }
}

template <class Element>
std::span<const Element> first_of(const std::vector<Element> &all)
{
    return std::span(all).first(std::min(all.size(), most_listed));
}

// What its calls take that were timed, where some were.
void add_times(formatted_text &json, const program &of, const node_info &node, const std::vector<divided_counts> &times)
{
    const auto number = static_cast<std::size_t>(&node - of.nodes.data());
    const auto found = std::ranges::find(times, number, &divided_counts::number);
    if (found == times.end()) {
        return;
    }
    const double all = static_cast<double>(std::max<std::uint64_t>(found->whole.sum_ns(), 1));
    json.add("\"p50_ns\": %" PRIu64 ", \"p99_ns\": %" PRIu64 ", \"shares\": {", found->whole.quantile_ns(0.5),
             found->whole.quantile_ns(0.99));
    const char *separator = "";
    for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
        const auto sum = static_cast<double>(found->of[kind].sum_ns());
        json.add("%s\"%s\": %.3f", std::exchange(separator, ", "), time_kind_name(static_cast<time_kind>(kind)),
                 sum / all);
    }
    json.all += "}, \"parked_for\": {";
    separator = "";
    for (std::size_t reason = 0; reason < park_reason_count; ++reason) {
        if (const std::uint64_t sum = found->parked_for[reason].sum_ns(); sum != 0) {
            json.add("%s\"%s\": %.3f", std::exchange(separator, ", "),
                     park_reason_name(static_cast<park_reason>(reason)), static_cast<double>(sum) / all);
        }
    }
    json.all += "}, ";
}

void add_vertices(formatted_text &json, const path_graph &graph, const program &of, graph_counts &counts,
                  const std::vector<divided_counts> &times)
{
    add_list(json, "vertices", graph.vertices(), ",", [&](graph_vertex vertex) {
        const vertex_count count = counts.vertices[vertex];
        json.add("\"id\": %" PRIu32 ", \"label\": %s, ", vertex, quoted(graph.label(vertex)).c_str());
        if (const node_info *const node = graph.node(vertex)) {
            json.add("\"file\": %s, \"line\": %u, ", quoted(node->file).c_str(), node->line);
            add_times(json, of, *node, times);
        }
        json.add("\"count\": %" PRIu64 ", \"failed\": %" PRIu64, count.times, count.failed);
    });
    add_list(json, "ways", graph.ways(), ",", [&](const graph_way &way) {
        json.add("\"from\": %" PRIu32 ", \"to\": %" PRIu32 ", \"count\": %" PRIu64, way.first, way.second,
                 counts.ways[way]);
    });
}

} // namespace

path_graph::path_graph(const program &of) : program_(of)
{
    backward_search search(of);
    for (std::uint32_t vertex = 0; vertex < of.path_vertices.size(); ++vertex) {
        if (is_shown(of, vertex)) {
            vertices_.push_back(vertex);
            for (const graph_vertex before : search.before(vertex)) {
                ways_.emplace_back(before, vertex);
            }
        }
    }
    for (std::size_t source = 0; source < of.sources.size(); ++source) {
        if (of.sources[source].produce_function == no_function) {
            vertices_.push_back(vertex_of_source(of, source));
        }
    }
    std::ranges::sort(ways_);
}

const char *path_graph::label(graph_vertex of) const noexcept
{
    const std::size_t vertices = program_.path_vertices.size();
    return of < vertices ? label_at(program_, of) : program_.sources[of - vertices].node.name;
}

const node_info *path_graph::node(graph_vertex of) const noexcept
{
    const std::size_t vertices = program_.path_vertices.size();
    if (of >= vertices) {
        return &program_.sources[of - vertices].node;
    }
    const std::string_view name = label(of);
    const auto found = std::ranges::find_if(program_.nodes, [&](const node_info &each) { return name == each.name; });
    return found == program_.nodes.end() ? nullptr : &*found;
}

graph_counts path_graph::count(const path_counts &by) const
{
    graph_counts counts;
    for (const taken_path &each : paths_of_flows(program_, by)) {
        std::optional<shown_vertices> path = decode_flow_vertices(program_, each.of, each.exit, each.number);
        if (!path) {
            continue;
        }
        if (each.is_input_end && !path->empty()) {
            path->pop_back(); // no failure
        }
        const bool has_source = program_.sources[each.of].produce_function == no_function;
        add_path(program_, *path, has_source ? std::optional(vertex_of_source(program_, each.of)) : std::nullopt,
                 each.count, counts);
    }
    for (const taken_path &each : paths_of_functions(program_, by)) {
        const auto function = static_cast<function_number>(each.of);
        if (const auto path = decode_vertices(program_, function, each.exit, each.number)) {
            add_path(program_, *path, std::nullopt, each.count, counts);
        }
    }
    return counts;
}

std::string graph_json(const path_graph &graph, const program &of, const run_facts &facts, const char *strategy)
{
    source_counts sum;
    for (source_number source = 0; source < of.sources.size(); ++source) {
        sum += facts.counts.of_source(source);
    }
    graph_counts counts = graph.count(facts.counts);
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now().time_since_epoch());
    formatted_text json;
    json.add("{\n  \"flux\": \"%s\",\n  \"program\": %s,\n  \"strategy\": \"%s\",\n  \"at_ms\": %" PRId64 ",\n"
             "  \"started\": %" PRIu64 ", \"ended\": %" PRIu64 ", \"failed\": %" PRIu64 ",\n",
             version, quoted(of.name).c_str(), strategy, static_cast<std::int64_t>(now.count()), sum.started,
             sum.all_finished(), sum.finished[index_of(outcome::failed)]);
    add_vertices(json, graph, of, counts, facts.node_times);
    add_list(json, "paths", first_of(paths_of_flows(of, facts.counts)), ",", [&](const taken_path &path) {
        json.add("\"source\": %s, \"exit\": \"%s\", \"number\": %" PRIu64 ", \"count\": %" PRIu64 ", \"labels\": %s",
                 quoted(of.sources[path.of].node.name).c_str(), path.end(), path.number, path.count,
                 json_texts(labels_of_flow(of, path)).c_str());
    });
    add_list(json, "constraints", facts.constraints, ",", [&](const constraint_totals &one) {
        const constraint_info &constraint = of.constraints[static_cast<std::size_t>(&one - facts.constraints.data())];
        json.add("\"name\": %s, \"taken\": %" PRIu64 ", \"waited\": %" PRIu64 ", \"waited_ns\": %" PRIu64
                 ", \"taken_to_read\": %" PRIu64 ", \"waited_ns_to_read\": %" PRIu64,
                 quoted(constraint.name).c_str(), one.taken, one.waited, one.waited_ns,
                 one.taken_to_read, one.waited_ns_to_read);
    });
    add_list(json, "errors", first_of(facts.failures), "", [&](const failure_total &each) {
        json.add("\"name\": %s, \"meaning\": %s, \"times\": %" PRIu64 ", \"unhandled\": %" PRIu64,
                 each.node < of.nodes.size() ? quoted(of.nodes[each.node].name).c_str() : "null",
                 quoted(describe_error(each.error).c_str()).c_str(), each.times, each.unhandled);
    });
    return json.all + "}\n";
}

} // namespace flux
