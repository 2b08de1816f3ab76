/// \file
/// The `network` program over sockets of the system, under all that can run its flows, with clients on threads.
#pragma once

#include "flux/strategy/pool.hpp"
#include "flux/io/proactor.hpp"
#include "flux/io/reactor.hpp"
#include "flux/simulation/simulated_time.hpp"
#include "flux/strategy/thread.hpp"
#include "network_scripts.hpp"
#include "socket_peer.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace network {

inline constexpr std::size_t client_count = 4;

/// What each client has seen.
using all_seen = std::array<seen, client_count>;

inline std::string name_of(std::size_t client)
{
    return "client" + std::to_string(client);
}

/// A client that does the same whatever it is made of: its dice are its own.
inline habits habits_of(std::size_t client)
{
    const auto dice = std::make_shared<flux::simulated_time>(client);
    return {[dice](std::uint64_t bound) { return dice->draw(bound); }, false};
}

/// A way to run flows.
struct way {
    const char *name;
    make_strategy make;
};

/// All of them.
inline std::vector<way> all_ways()
{
    return {{"thread", flux::make_thread_strategy},
            {"pool", [](flux::runners &all) { return flux::make_pool_strategy(all, 8, 64); }},
            {"reactor", on_loops(flux::make_reactor)},
            {"two reactors", on_loops(flux::make_reactor, 2)},
            {"proactor", on_loops(flux::make_proactor)},
            {"two proactors", on_loops(flux::make_proactor, 2)}};
}

/// Calls `script(peer, number)` for each client at once, on threads, and waits for all.
template <class Script>
void run_clients(Script script)
{
    std::vector<std::thread> clients;
    for (std::size_t number = 0; number < client_count; ++number) {
        clients.emplace_back([number, &script] {
            socket_peer self;
            script(self, number);
        });
    }
    for (std::thread &each : clients) {
        each.join();
    }
}

/// Waits until the server that has just been started listens.
inline void await_listening()
{
    await([] { return listens.load(); });
}

/// What came of a run: what each client got, and what became of the flows.
struct replies_and_counts {
    std::vector<std::string> replies;
    flux::source_counts counts;
};

inline replies_and_counts result_of(const all_seen &all, const flux::source_counts &counts)
{
    replies_and_counts result{{}, counts};
    std::ranges::transform(all, std::back_inserter(result.replies), &seen::replies);
    return result;
}

/// The same script for clients of any kind, at the server of `network::serve`.
template <class Peer>
using client_script = void (*)(Peer &self, std::size_t client, seen &own);

/// Its flows are run in this way.
inline replies_and_counts run_over_sockets(const way &by, client_script<socket_peer> script)
{
    all_seen all;
    socket_peer upstream;
    EXPECT_EQ(upstream.listen(flux::loopback_address(0)), 0);
    upstream_at = upstream.local();
    std::thread behind([&upstream] { serve_upstream(upstream); });
    served_at = flux::loopback_address(0);
    running_server server(by.make);
    await_listening();
    run_clients([&](socket_peer &self, std::size_t number) { script(self, number, all[number]); });
    const flux::source_counts counts = server.end();
    upstream.end_listening();
    behind.join();
    return result_of(all, counts);
}

} // namespace network
