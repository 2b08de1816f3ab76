// A runtime that does nothing but write down what generated code asks of it. It keeps the contract: the probe compiles
// against it too. What is but a type of value is that of the real one.
#pragma once

#include "flux/expected.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#define FLUX_GENERATED_SUPPORT 1

namespace flux {

using node_number = std::uint32_t;
using function_number = std::uint32_t;
using path_number = std::uint64_t;
enum class outcome : unsigned char { done, failed, ended };
enum class mode { read, intent, write };
enum class scope { program, session, keyed };

class flow
{
  public:
    flow() = default;
    flow(const flow &) = delete;

    template <class... Values>
    void call(node_number node, const Values &...) noexcept
    {
        called.push_back(node);
    }
    template <class Call>
    void on_stack(std::size_t, Call node_call)
    {
        node_call();
    }
    template <class Call>
    void beside_loops(Call node_call)
    {
        node_call();
    }
    void dispatch(node_number) noexcept {}
    int caught() noexcept { return exception_thrown; }
    int caught_with_text() noexcept { return caught(); }
    void failed_in(node_number, int error) noexcept
    {
        called.push_back(error_mark);
        error_ = error;
    }
    int error() const noexcept { return error_; }
    std::string error_text() const { return {}; }
    std::string error_node() const { return {}; }
    outcome done(path_number offset = 0) noexcept { return leave(outcome::done, offset); }
    outcome failed(path_number offset = 0) noexcept { return leave(outcome::failed, offset); }
    outcome ended(path_number offset = 0) noexcept { return leave(outcome::ended, offset); }
    outcome fault(path_number number) noexcept
    {
        path = number;
        return outcome::failed;
    }
    void set_session(int) noexcept {}
    void add_path(path_number offset) noexcept { path += offset; }
    path_number begin_path() noexcept { return std::exchange(path, 0); }
    void end_path(path_number before, path_number radix) noexcept { path += before * radix; }
    void cut_path(path_number before, function_number, outcome) noexcept { path = before; }

    // What was written down.
    static constexpr node_number error_mark = ~node_number{0};
    path_number path = 0;
    std::vector<node_number> called;
    std::vector<std::pair<unsigned, mode>> held;

  private:
    outcome leave(outcome exit, path_number offset) noexcept
    {
        path += offset;
        return exit;
    }

    int error_ = 0;
};

// No program that runs on this has parallel steps.
template <class... Values>
class branch
{
  public:
    branch(flow &, function_number, outcome (*)(flow &, Values &...), Values &...) noexcept {}
    branch(const branch &) = delete;
};

template <class Later, class Earlier>
void start_after(Later &, Earlier &) noexcept
{
}

template <class... Branches>
outcome join(flow &by, Branches &...) noexcept
{
    return by.done();
}

template <class... Branches>
outcome join_cut(flow &by, Branches &...) noexcept
{
    return by.done();
}

struct each_width {
    static constexpr std::int64_t least = 1;
};

template <class... Values, class... Lists>
outcome each(flow &by, function_number, std::int64_t, outcome (*)(flow &, Values &...), std::size_t, Lists &...)
{
    return by.done();
}

template <class Out, class Value>
std::vector<Value> gathered(std::vector<Out> &, Value Out::*)
{
    return {};
}

template <class... Fields>
std::size_t size_of_fields(const Fields &...) noexcept
{
    return 0;
}

template <class Element, std::size_t size>
void copy(Element (&to)[size], const Element (&from)[size])
{
    for (std::size_t i = 0; i < size; ++i) {
        if constexpr (std::is_array_v<Element>) {
            copy(to[i], from[i]);
        } else {
            to[i] = from[i];
        }
    }
}

template <class Value>
inline constexpr bool keepable = std::is_copy_constructible_v<std::remove_all_extents_t<Value>>;

struct program_lock {
    explicit constexpr program_lock(unsigned its_number) : number(its_number) {}
    unsigned number;
};

class within
{
  public:
    within(flow &, std::int64_t) noexcept {}
    within(const within &) = delete;
};

class state_changes
{
  public:
    state_changes(flow &, const outcome &) noexcept {}
    state_changes(const state_changes &) = delete;
};

class hold
{
  public:
    hold(flow &by, program_lock &what, mode how) noexcept : flow_(by)
    {
        by.held.emplace_back(what.number, how);
    }
    ~hold() { flow_.held.pop_back(); }
    hold(const hold &) = delete;

  private:
    flow &flow_;
};

struct session_lock : program_lock {
    using program_lock::program_lock;
};
struct keyed_lock : program_lock {
    using program_lock::program_lock;
};
using hold_session = hold;

template <class... Parts>
mode key(mode how, const Parts &...)
{
    return how;
}

struct hold_keys : hold {
    template <class... Keys>
    hold_keys(flow &by, keyed_lock &what, mode first, Keys...) noexcept : hold(by, what, first)
    {
    }
};

template <class Part>
inline constexpr bool keyable = !std::is_floating_point_v<Part>;

template <class Left, class Right>
inline constexpr bool same_key = std::is_same_v<std::remove_cv_t<Left>, std::remove_cv_t<Right>>;

struct node_info {
    const char *name;
    const char *file;
    unsigned line;
};
struct constraint_info {
    const char *name;
    flux::scope scope;
};
struct path_edge {
    std::uint32_t from;
    path_number offset;
};
enum class path_kind {
    start,
    join,
    label,
    call_done,
    call_failed,
    call_ended,
    cut_done,
    cut_failed,
    cut_ended,
    call_any
};
struct path_vertex {
    path_kind kind;
    const char *label;
    function_number function;
    std::uint32_t first_edge;
    std::uint32_t edge_count;
};
struct path_function {
    const char *name;
    path_number paths[3];
    std::uint32_t exits[3];
};
struct source_info {
    node_info place;
    function_number produce;
    function_number run;
};

template <auto Produce, auto Run>
constexpr source_info make_source(node_info place, function_number produce, function_number run)
{
    return {place, produce, run};
}

template <auto Produce, auto Run>
constexpr source_info make_replicable_source(node_info place, function_number produce, function_number run)
{
    return {place, produce, run};
}

template <auto Run>
constexpr source_info make_timer(node_info place, std::uint64_t, function_number run)
{
    return {place, run, run};
}

enum class option_kind { integer, text, path, truth, duration, size };
using option_number = std::int64_t;

struct option_info {
    const char *flag;
};

template <class... Taken, class Value>
constexpr option_info make_option(const char *flag, option_kind, const char *, const char *, Value &)
{
    return {flag};
}

struct program {
    const char *name;
    std::span<const node_info> nodes;
    std::span<const constraint_info> constraints;
    std::span<const source_info> sources;
    std::span<const path_function> path_functions;
    std::span<const path_vertex> path_vertices;
    std::span<const path_edge> path_edges;
    std::span<const option_info> options = {};
    bool on_loops = false;
};

template <class Options>
int start(int (*init)(const Options &, std::string &), const Options &options, std::string &why)
{
    return init == nullptr ? 0 : init(options, why);
}

inline int serve(const program &, int, char **, int (*)(std::string &) = nullptr)
{
    return 0;
}

} // namespace flux
