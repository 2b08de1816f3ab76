/// \file
/// What the runtime must know of a program: the tables that generated code passes to `serve`.
///
/// They contain names and places, the graph that path numbers run over (explained in `paths.hpp`), and for each source
/// the functions that make and run its flows. All of it is constant and lives as long as the process.
#pragma once

#include "flux/flow/flow.hpp"
#include "flux/flow/program_option.hpp"

#include <cstdint>
#include <memory>
#include <new>
#include <span>

namespace flux {

/// A node, an error handler that is a plain function, or a source; and where the author declares it.
struct node_info {
    const char *name;
    const char *file;
    unsigned line;
};

/// Which flows a constraint holds apart: all, those of one session, those with equal keys.
enum class scope : unsigned char { program, session, keyed };

/// A constraint.
struct constraint_info {
    const char *name;
    flux::scope scope;
};

/// What happened at a vertex of the path graph.
enum class path_kind : unsigned char {
    /// The function began.
    start,
    /// Ways come together; nothing to show.
    join,
    /// Something that is shown: a node, a line of a dispatch, an error handler, `ERROR`.
    label,
    /// A call of a function came back by this exit.
    call_done,
    call_failed,
    call_ended,
    /// The same, of a function whose paths are counted by themselves: it is one path here.
    cut_done,
    cut_failed,
    cut_ended,
    /// A branch of a parallel step came back by whichever exit: its paths are numbered those that are done first, then
    /// the failed and the ended ones.
    call_any,
};

/// A point on a path.
struct path_vertex {
    path_kind kind;
    /// What is shown, where the kind is `label`; null elsewhere.
    const char *label;
    /// The callee, where the kind is one of the calls; 0 elsewhere.
    function_number function;
    /// The edges into it: they stand side by side, their offsets ascending.
    std::uint32_t first_edge;
    std::uint32_t edge_count;
};

/// A way into a vertex.
struct path_edge {
    /// The vertex it comes from.
    std::uint32_t from;
    /// What it adds to the path register.
    path_number offset;
};

/// A generated function as path numbers know it; the arrays are by outcome.
struct path_function {
    const char *name;
    /// How many paths lead to each exit.
    path_number paths[outcome_count];
    /// The vertex of each exit.
    std::uint32_t exits[outcome_count];
};

/// Stands where a source has no function that makes values.
inline constexpr function_number no_function = ~function_number{0};

/// A source: how its flows come about, and how they run. Made by `make_source` and `make_timer`.
struct source_info {
    node_info node;
    /// The function that makes a flow's values, in the path tables; `no_function` for a timer.
    function_number produce_function;
    /// The function of the flow, in the path tables.
    function_number run_function;
    /// The milliseconds between two beats of a timer; 0 for any other source.
    std::uint64_t period_ms;
    /// A flow with room for the values, not yet made; null where there is no memory.
    flow *(*create)() noexcept;
    /// Ends what `create` made.
    void (*destroy)(flow *) noexcept;
    /// Makes the values. They exist afterwards if it is done. Throws what their construction throws.
    outcome (*produce)(flow &);
    /// Runs the flow with the values and ends them.
    outcome (*run)(flow &);
    /// Whether it may run in several instances at once, and waits through the runtime alone.
    bool replicable = false;
};

/// All that the runtime must know of a program. Tables may be empty.
struct program {
    const char *name;
    std::span<const node_info> nodes;
    std::span<const constraint_info> constraints;
    std::span<const source_info> sources;
    std::span<const path_function> path_functions;
    std::span<const path_vertex> path_vertices;
    std::span<const path_edge> path_edges;
    std::span<const option_info> options = {};
};

/// A flow with the values that its source made, which exist from `produce` to the end of `run`. Flows run on different
/// threads, so they share no cache line.
template <class Values>
struct alignas(64) flow_with final : flow {
    flow_with() noexcept {}
    ~flow_with() {}

    union {
        Values values;
    };
};

/// What a source without values makes.
struct no_values {
};

/// The functions of a source for flows that carry `Values`; all of `make_source` and `make_timer` that is code.
template <class Values>
struct source_functions {
    static flow *create() noexcept { return new (std::nothrow) flow_with<Values>; }

    static void destroy(flow *unused) noexcept { delete static_cast<flow_with<Values> *>(unused); }

    template <outcome (*produce)(flow &, Values &)>
    static outcome produce_with(flow &running)
    {
        Values *values = std::construct_at(&static_cast<flow_with<Values> &>(running).values);
        const outcome made = produce(running, *values);
        if (made != outcome::done) {
            std::destroy_at(values);
        }
        return made;
    }

    template <outcome (*run)(flow &, Values &)>
    static outcome run_with(flow &running)
    {
        Values &values = static_cast<flow_with<Values> &>(running).values;
        const outcome exit = run(running, values);
        std::destroy_at(&values);
        return exit;
    }
};

/// A source whose values are made by `produce` and given to `run`, each called with the flow; `produce_function` and
/// `run_function` are their numbers in the path tables.
template <auto produce, auto run>
constexpr source_info make_source(node_info node, function_number produce_function, function_number run_function)
{
    const auto typed = [&]<class Values>(outcome (*)(flow &, Values &)) {
        using functions = source_functions<Values>;
        return source_info{node,
                           produce_function,
                           run_function,
                           0,
                           functions::create,
                           functions::destroy,
                           functions::template produce_with<produce>,
                           functions::template run_with<run>};
    };
    if constexpr (requires { typed(produce); }) {
        return typed(produce);
    } else {
        using functions = source_functions<no_values>;
        return {node, produce_function, run_function, 0, functions::create, functions::destroy, produce, run};
    }
}

/// As `make_source`, for a source that is replicable.
template <auto produce, auto run>
constexpr source_info make_replicable_source(node_info node, function_number produce_function,
                                             function_number run_function)
{
    source_info made = make_source<produce, run>(node, produce_function, run_function);
    made.replicable = true;
    return made;
}

/// A source that starts a flow every `period_ms` milliseconds, more than 0. A beat that is missed is not made up for.
template <outcome (*run)(flow &)>
constexpr source_info make_timer(node_info node, std::uint64_t period_ms, function_number run_function)
{
    using functions = source_functions<no_values>;
    return {node, no_function, run_function, period_ms, functions::create, functions::destroy, nullptr, run};
}

} // namespace flux
