/// \file
/// A small program in the form that the compiler generates, with tables made by hand, for the tests:
///
///     Listen () => (int first, int second, int failing);
///     source Listen => Main;
///     source Spread => Cut;
///     source every 10ms => Beat;
///     Main = Begin -> Choose -> Choose -> End;
///     Cut = Main, but the paths of the second Choose are counted by themselves;
///     Choose:[one] = One;
///     Choose:[two] = ;
///
/// A flow also writes down in its values the labels that it passes, independently of its path number: what the number
/// must decode to.
#pragma once

#include <flux/generated_support.hpp>

#include <functional>
#include <string>
#include <vector>

namespace sample {

enum node : flux::node_number { node_Listen, node_Begin, node_Choose, node_One, node_End, node_Main, node_Beat };

enum function : flux::function_number {
    function_Choose,
    function_Main,
    function_Cut,
    function_Listen_produce,
    function_Main_run,
    function_Cut_run,
    function_Beat_run,
};

struct Listen_out {
    int first;         // 1 takes the line One, 2 the empty line, anything else none
    int second;        // the same, at the second Choose
    int failing;       // which node fails: a number of `node`, or -1
    int successes = 0; // how often it succeeds before that
    std::vector<std::string> trace = {};
};

/// What the source makes: the test's choice. Not done where it gives false.
inline std::function<bool(Listen_out &)> listen;
/// What every node does besides.
inline std::function<void(const Listen_out &)> work;

inline flux::program_lock lock_shared{0};

/// A step that calls a concrete node.
inline bool step(flux::flow &flow, node which, const char *label, Listen_out &values)
{
    flow.call(which, values.trace);
    values.trace.emplace_back(label);
    if (work) {
        work(values);
    }
    if (values.failing != static_cast<int>(which) || values.successes-- > 0) {
        return true;
    }
    values.trace.emplace_back("ERROR");
    flow.failed_in(which, 5);
    return false;
}

// Paths: done 2 (One; the empty line), failed 2 (no line; One failed).
inline flux::outcome Choose(flux::flow &flow, int selected, Listen_out &values)
{
    flow.dispatch(node_Choose);
    if (selected == 1) {
        values.trace.emplace_back("Choose:[one]");
        const flux::hold hold_shared(flow, lock_shared, flux::mode::write);
        return step(flow, node_One, "One", values) ? flow.done() : flow.failed(1);
    }
    if (selected == 2) {
        values.trace.emplace_back("Choose:[two]");
        return flow.done(1);
    }
    values.trace.emplace_back("ERROR");
    flow.failed_in(node_Choose, flux::no_match);
    return flow.failed();
}

// Paths: done 4; failed 1 (Begin) + 2 (first Choose) + 4 (second) + 4 (End) = 11.
inline flux::outcome Main(flux::flow &flow, Listen_out &values)
{
    if (!step(flow, node_Begin, "Begin", values)) {
        return flow.failed();
    }
    flow.call(node_Choose);
    if (Choose(flow, values.first, values) != flux::outcome::done) {
        return flow.failed(1);
    }
    flow.call(node_Choose);
    const flux::path_number before = flow.begin_path();
    const flux::outcome second = Choose(flow, values.second, values);
    flow.end_path(before, 2);
    if (second != flux::outcome::done) {
        return flow.failed(3);
    }
    return step(flow, node_End, "End", values) ? flow.done() : flow.failed(7);
}

// Paths: done 2; failed 1 (Begin) + 2 (first Choose) + 2 (second, cut) + 2 (End) = 7.
inline flux::outcome Cut(flux::flow &flow, Listen_out &values)
{
    if (!step(flow, node_Begin, "Begin", values)) {
        return flow.failed();
    }
    flow.call(node_Choose);
    if (Choose(flow, values.first, values) != flux::outcome::done) {
        return flow.failed(1);
    }
    flow.call(node_Choose);
    std::vector<std::string> kept = values.trace;
    const flux::path_number before = flow.begin_path();
    const flux::outcome second = Choose(flow, values.second, values);
    flow.cut_path(before, function_Choose, second);
    kept.emplace_back("Choose");
    values.trace = kept;
    if (second != flux::outcome::done) {
        return flow.failed(3);
    }
    return step(flow, node_End, "End", values) ? flow.done() : flow.failed(5);
}

inline flux::outcome Listen_produce(flux::flow &flow, Listen_out &values)
{
    flow.call(node_Listen);
    if (!listen(values)) {
        flow.failed_in(node_Listen, 24);
        return flow.failed();
    }
    return flow.done();
}

inline flux::outcome Main_run(flux::flow &flow, Listen_out &values)
{
    values.trace = {"Listen"};
    flow.call(node_Main);
    return Main(flow, values);
}

inline flux::outcome Cut_run(flux::flow &flow, Listen_out &values)
{
    values.trace = {"Listen"};
    flow.call(node_Main);
    return Cut(flow, values);
}

inline flux::outcome Beat_run(flux::flow &flow)
{
    flow.call(node_Beat);
    if (work) {
        work({});
    }
    return flow.done();
}

inline constexpr flux::node_info nodes[] = {
    {"Listen", "sample.flux", 1}, {"Begin", "sample.flux", 2}, {"Choose", "sample.flux", 3}, {"One", "sample.flux", 4},
    {"End", "sample.flux", 5},    {"Main", "sample.flux", 6},  {"Beat", "sample.flux", 7},
};

inline constexpr flux::constraint_info constraints[] = {{"shared", flux::scope::program}};

using enum flux::path_kind;

inline constexpr flux::path_vertex path_vertices[] = {
    // Choose: 0
    {start, nullptr, 0, 0, 0},
    {join, nullptr, 0, 0, 2},                   // 1: done
    {join, nullptr, 0, 2, 2},                   // 2: failed
    {join, nullptr, 0, 0, 0},                   // 3: ended
    {label, "ERROR", 0, 4, 1},                  // 4: no line
    {label, "Choose:[one]", 0, 5, 1},           // 5
    {label, "One", 0, 6, 1},                    // 6
    {label, "ERROR", 0, 7, 1},                  // 7: One failed
    {label, "Choose:[two]", 0, 8, 1},           // 8
    // Main: 9
    {start, nullptr, 0, 0, 0},
    {join, nullptr, 0, 9, 1},                   // 10: done
    {join, nullptr, 0, 10, 4},                  // 11: failed
    {join, nullptr, 0, 0, 0},                   // 12: ended
    {label, "Begin", 0, 14, 1},                 // 13
    {label, "ERROR", 0, 15, 1},                 // 14
    {call_done, nullptr, function_Choose, 16, 1},   // 15
    {call_failed, nullptr, function_Choose, 17, 1}, // 16
    {call_done, nullptr, function_Choose, 18, 1},   // 17
    {call_failed, nullptr, function_Choose, 19, 1}, // 18
    {label, "End", 0, 20, 1},                   // 19
    {label, "ERROR", 0, 21, 1},                 // 20
    // Cut: 21
    {start, nullptr, 0, 0, 0},
    {join, nullptr, 0, 22, 1},                  // 22: done
    {join, nullptr, 0, 23, 4},                  // 23: failed
    {join, nullptr, 0, 0, 0},                   // 24: ended
    {label, "Begin", 0, 27, 1},                 // 25
    {label, "ERROR", 0, 28, 1},                 // 26
    {call_done, nullptr, function_Choose, 29, 1},   // 27
    {call_failed, nullptr, function_Choose, 30, 1}, // 28
    {cut_done, nullptr, function_Choose, 31, 1},    // 29
    {cut_failed, nullptr, function_Choose, 32, 1},  // 30
    {label, "End", 0, 33, 1},                   // 31
    {label, "ERROR", 0, 34, 1},                 // 32
    // Listen_produce: 33
    {start, nullptr, 0, 0, 0},
    {join, nullptr, 0, 35, 1},                  // 34: done
    {join, nullptr, 0, 36, 1},                  // 35: failed
    {join, nullptr, 0, 0, 0},                   // 36: ended
    {label, "Listen", 0, 37, 1},                // 37
    {label, "ERROR", 0, 38, 1},                 // 38
    // Main_run: 39
    {start, nullptr, 0, 0, 0},
    {join, nullptr, 0, 39, 1},                  // 40: done
    {join, nullptr, 0, 40, 1},                  // 41: failed
    {call_done, nullptr, function_Main, 41, 1},     // 42
    {call_failed, nullptr, function_Main, 42, 1},   // 43
    // Cut_run: 44
    {start, nullptr, 0, 0, 0},
    {join, nullptr, 0, 43, 1},                  // 45: done
    {join, nullptr, 0, 44, 1},                  // 46: failed
    {call_done, nullptr, function_Cut, 45, 1},      // 47
    {call_failed, nullptr, function_Cut, 46, 1},    // 48
    // Beat_run: 49
    {start, nullptr, 0, 0, 0},
    {join, nullptr, 0, 47, 1},                  // 50: done
    {label, "Beat", 0, 48, 1},                  // 51
};

inline constexpr flux::path_edge path_edges[] = {
    // Choose
    {6, 0}, {8, 1}, // 0: into done
    {4, 0}, {7, 1}, // 2: into failed
    {0, 0},         // 4
    {0, 0},         // 5
    {5, 0},         // 6
    {6, 0},         // 7
    {0, 0},         // 8
    // Main
    {19, 0},                              // 9: into done
    {14, 0}, {16, 1}, {18, 3}, {20, 7},   // 10: into failed
    {9, 0},                               // 14
    {13, 0},                              // 15
    {13, 0},                              // 16
    {13, 0},                              // 17
    {15, 0},                              // 18
    {15, 0},                              // 19
    {17, 0},                              // 20
    {19, 0},                              // 21
    // Cut
    {31, 0},                              // 22: into done
    {26, 0}, {28, 1}, {30, 3}, {32, 5},   // 23: into failed
    {21, 0},                              // 27
    {25, 0},                              // 28
    {25, 0},                              // 29
    {25, 0},                              // 30
    {27, 0},                              // 31
    {27, 0},                              // 32
    {29, 0},                              // 33
    {31, 0},                              // 34
    // Listen_produce
    {37, 0}, {38, 0},                     // 35
    {33, 0},                              // 37
    {37, 0},                              // 38
    // Main_run
    {42, 0}, {43, 0},                     // 39
    {39, 0}, {39, 0},                     // 41
    // Cut_run
    {47, 0}, {48, 0},                     // 43
    {44, 0}, {44, 0},                     // 45
    // Beat_run
    {51, 0},                              // 47
    {49, 0},                              // 48
};

inline constexpr flux::path_function path_functions[] = {
    {"Choose", {2, 2, 0}, {1, 2, 3}},
    {"Main", {4, 11, 0}, {10, 11, 12}},
    {"Cut", {2, 7, 0}, {22, 23, 24}},
    {"Listen_produce", {1, 1, 0}, {34, 35, 36}},
    {"Main_run", {4, 11, 0}, {40, 41, 36}},
    {"Cut_run", {2, 7, 0}, {45, 46, 36}},
    {"Beat_run", {1, 0, 0}, {50, 36, 36}},
};

inline constexpr flux::source_info sources[] = {
    flux::make_source<Listen_produce, Main_run>({"Listen", "sample.flux", 8}, function_Listen_produce,
                                                function_Main_run),
    flux::make_source<Listen_produce, Cut_run>({"Spread", "sample.flux", 9}, function_Listen_produce,
                                               function_Cut_run),
    flux::make_timer<Beat_run>({"every 10ms", "sample.flux", 10}, 10, function_Beat_run),
};

enum source : std::size_t { source_Listen, source_Spread, source_Beat };

inline constexpr flux::program program{"sample",      nodes,      constraints, sources, path_functions,
                                       path_vertices, path_edges};

} // namespace sample
