/// \file
/// A program whose flows are connections, for tests that run it over any I/O, with tables made by hand:
///
///     Listen () => (flux::connection *client) replicable;
///     source Listen => Main;
///     Main = Serve;                 // which may run Forth and Back in parallel
///
/// What Serve does is the test's choice.
#pragma once

#include "patience.hpp"

#include "flux/flow/branch.hpp"
#include "flux/io/connections.hpp"
#include "flux/event/event.hpp"
#include "flux/io/park.hpp"
#include "flux/message/parse.hpp"
#include "flux/strategy/sources.hpp"
#include <flux/generated_support.hpp>

#include <atomic>
#include <cerrno>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace network {

enum node : flux::node_number { node_Listen, node_Serve, node_Forth, node_Back };
enum function : flux::function_number { function_Listen, function_Main, function_Forth, function_Back };

/// Where the server listens, and whether it does; its port is right by then where it was 0.
inline flux::address served_at;
inline std::atomic<bool> listens{false};
/// When a connection begins its first flow.
inline flux::first_given first = flux::first_given::with_input;
/// What a flow does with its connection, which it gives back or closes: 0 or its error. Where it throws it is closed.
inline std::function<int(flux::flow &, flux::connection &)> serve;

/// Where it is set, a flow begins with a whole message of this class, and `serve_message` is what it does.
inline std::function<std::unique_ptr<flux::message_parse>()> begin_message;
inline std::function<int(flux::flow &, flux::connection &, const flux::message &)> serve_message;

/// The listener of each server, which the first instance of its source makes, and the connections of the one on this
/// thread.
inline std::mutex opening;
inline std::map<const flux::server_io *, std::unique_ptr<flux::listener>> listeners;
inline thread_local std::shared_ptr<flux::connections> connected;

inline constexpr std::chrono::seconds idle_limit{30};
inline constexpr std::chrono::seconds first_byte_limit{6};
inline constexpr std::chrono::seconds message_limit{8};
inline constexpr flux::silence_limits limits{idle_limit, first_byte_limit, message_limit};

inline flux::program_lock lock_shared{0};

struct Listen_out {
    flux::connection *client;
    flux::message message;
};

inline int next_client(Listen_out &out)
{
    if (begin_message == nullptr) {
        return flux::take(connected->next(), out.client);
    }
    const std::unique_ptr<flux::message_parse> parse = begin_message();
    const int error = flux::take(connected->next(*parse), out.client);
    out.message = flux::message(std::move(parse->bytes));
    return error;
}

inline int begin_listening()
{
    const std::lock_guard alone(opening);
    std::unique_ptr<flux::listener> &listening = listeners[flux::server_io::current().get()];
    if (listening == nullptr) {
        flux::io_result<std::unique_ptr<flux::listener>> made = flux::running_io().listen(served_at);
        if (!made.has_value()) {
            return made.error();
        }
        listening = *std::move(made);
        if (served_at.port() == 0) {
            served_at = listening->local();
        }
    }
    connected = std::make_shared<flux::connections>(flux::running_io(), *listening, first, limits);
    flux::running_flow->from().when_stopped([ended = connected] { ended->end(); });
    listens = true;
    return 0;
}

inline flux::outcome Listen(flux::flow &flow, Listen_out &out)
{
    flow.call(node_Listen);
    int error = 0;
    try {
        error = connected == nullptr ? begin_listening() : 0;
        error = error != 0 ? error : next_client(out);
    } catch (...) {
        error = flow.caught();
    }
    if (error != 0) {
        flow.failed_in(node_Listen, error);
        return flow.failed();
    }
    return flow.done();
}

inline flux::outcome Main(flux::flow &flow, Listen_out &values)
{
    flow.call(node_Serve);
    int error = 0;
    try {
        error = begin_message == nullptr ? serve(flow, *values.client)
                                         : serve_message(flow, *values.client, values.message);
    } catch (...) {
        error = flow.caught();
        values.client->close();
    }
    if (error != 0) {
        flow.failed_in(node_Serve, error);
        return flow.failed();
    }
    return flow.done();
}

/// What a branch does: 0 or its error.
using branch_work = std::function<int(flux::flow &)>;

template <node which>
flux::outcome run_branch(flux::flow &flow, const branch_work &work)
{
    flow.call(which);
    int error = 0;
    try {
        error = work(flow);
    } catch (...) {
        error = flow.caught();
        flow.parent()->cancel(); // the other would wait for what never comes
    }
    if (error != 0) {
        flow.failed_in(which, error);
        return flow.failed();
    }
    return flow.done();
}

/// Runs both as a parallel step: 0, or the error of the first that failed.
inline int in_parallel(flux::flow &flow, const branch_work &forth, const branch_work &back)
{
    flux::branch first_branch(flow, function_Forth, run_branch<node_Forth>, forth);
    flux::branch second_branch(flow, function_Back, run_branch<node_Back>, back);
    const flux::outcome exit = flux::join_cut(flow, first_branch, second_branch);
    return exit == flux::outcome::done ? 0 : flow.error();
}

inline constexpr flux::node_info nodes[] = {{"Listen", "network.flux", 1},
                                            {"Serve", "network.flux", 2},
                                            {"Forth", "network.flux", 3},
                                            {"Back", "network.flux", 4}};

inline constexpr flux::constraint_info constraints[] = {{"shared", flux::scope::program}};

using enum flux::path_kind;

// Each function: its start, its exits done, failed and ended, its node, and that node's error.
inline constexpr flux::path_vertex path_vertices[] = {
    {start, nullptr, 0, 0, 0},   {join, nullptr, 0, 0, 1},   {join, nullptr, 0, 1, 1},  {join, nullptr, 0, 2, 0},
    {label, "Listen", 0, 2, 1},  {label, "ERROR", 0, 3, 1},

    {start, nullptr, 0, 4, 0},   {join, nullptr, 0, 4, 1},   {join, nullptr, 0, 5, 1},  {join, nullptr, 0, 6, 0},
    {label, "Serve", 0, 6, 1},   {label, "ERROR", 0, 7, 1},

    {start, nullptr, 0, 8, 0},   {join, nullptr, 0, 8, 1},   {join, nullptr, 0, 9, 1},  {join, nullptr, 0, 10, 0},
    {label, "Forth", 0, 10, 1},  {label, "ERROR", 0, 11, 1},

    {start, nullptr, 0, 12, 0},  {join, nullptr, 0, 12, 1},  {join, nullptr, 0, 13, 1}, {join, nullptr, 0, 14, 0},
    {label, "Back", 0, 14, 1},   {label, "ERROR", 0, 15, 1},
};

inline constexpr flux::path_edge path_edges[] = {
    {4, 0},  {5, 0},  {0, 0},  {4, 0},
    {10, 0}, {11, 0}, {6, 0},  {10, 0},
    {16, 0}, {17, 0}, {12, 0}, {16, 0},
    {22, 0}, {23, 0}, {18, 0}, {22, 0},
};

inline constexpr flux::path_function path_functions[] = {
    {"Listen", {1, 1, 0}, {1, 2, 3}},
    {"Main", {1, 1, 0}, {7, 8, 9}},
    {"Forth", {1, 1, 0}, {13, 14, 15}},
    {"Back", {1, 1, 0}, {19, 20, 21}},
};

inline constexpr flux::source_info all_sources[] = {
    flux::make_replicable_source<Listen, Main>({"Listen", "network.flux", 5}, function_Listen, function_Main)};

inline constexpr flux::program program{"network",    nodes,         constraints, all_sources, path_functions,
                                       path_vertices, path_edges};

/// Makes what runs the flows.
using make_strategy = std::function<std::unique_ptr<flux::strategy>(flux::runners &)>;

/// So many loops with this I/O.
inline make_strategy on_loops(flux::make_loop_io make_io, std::size_t loops = 1)
{
    return [make_io = std::move(make_io), loops](flux::runners &all) {
        return flux::make_event_strategy(all, program, loops, make_io);
    };
}

/// The program runs by this strategy, until it is ended.
class running_server
{
  public:
    explicit running_server(const make_strategy &by)
        : strategy_(by(all_)), sources_(program, {.most = 64}, *strategy_, all_)
    {
        listens = false; // as a server of another file of this unit may have left it
        sources_.start();
    }

    /// No more connections are served, and those that are idle are closed.
    void stop() { sources_.stop(); }

    /// The flows that have not ended fail in what they wait for.
    void cancel() { sources_.cancel_flows(); }

    /// How often a node failed with this error so far, or was said to.
    std::uint64_t failures(int error)
    {
        std::uint64_t times = 0;
        for (const flux::failure_total &each : all_.total_of_failures()) {
            times += each.error == error ? each.times : 0;
        }
        return times;
    }

    /// Stops, and waits until all flows have ended. What became of them.
    flux::source_counts end()
    {
        await([this] {
            sources_.stop();
            return sources_.ended() && all_.flows_in_progress() == 0;
        });
        sources_.join();
        strategy_->finish();
        listeners.clear();
        listens = false;
        begin_message = nullptr;
        const flux::path_counts total = all_.total();
        const flux::source_counts counts = total.of_source(0);
        EXPECT_EQ(on_paths(total), counts.started);
        return counts;
    }

  private:
    // How many flows are counted on paths, or would be if there had been memory for it.
    static std::uint64_t on_paths(const flux::path_counts &total)
    {
        std::uint64_t sum = 0;
        const auto add = [&](const flux::path_table &each) {
            each.visit([&](flux::path_number, std::uint64_t times) { sum += times; });
            sum += each.lost();
        };
        for (const flux::path_table &each : total.flow_paths(0)) {
            add(each);
        }
        add(total.input_ends(0));
        return sum;
    }

    flux::runners all_{program};
    std::unique_ptr<flux::strategy> strategy_;
    flux::sources sources_;
};

} // namespace network
