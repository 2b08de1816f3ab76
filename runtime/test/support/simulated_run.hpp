/// \file
/// One run of the `network` program on one loop under the simulation, and what every run must keep: nobody hangs,
/// nothing is left open, each flow that started has ended and is counted.
///
/// A run that fails says its seed (`seeds.hpp`), and shows its trace on standard error.
#pragma once

#include "flux/waiting/sanitizer.hpp"
#include "flux/simulation/simulation.hpp"
#include "network_program.hpp"
#include "seeds.hpp"

#include <cstdio>
#include <gtest/gtest.h>
#include <string>
#include <utility>

namespace network {

class simulated_run
{
  public:
    simulated_run(std::uint64_t seed, const flux::simulated_faults &happen)
        : faults(happen), made_(std::make_unique<flux::simulation>(seed, happen)), world(*made_)
    {
        served_at = flux::loopback_address(80);
    }

    /// Lets all go on until nothing can happen any more, and then ends the server.
    void run()
    {
        running_server running(on_loops([this] { return std::unique_ptr<flux::loop_io>(std::move(made_)); }));
        server = &running;
        world.begin();
        world.await_idle();
        EXPECT_EQ(world.unfinished_peers(), "");
        running.stop();
        world.go_on();
        EXPECT_EQ(world.open_streams(), 0u);
        failed_allocations = world.failed_allocations();
        trace = world.trace();
        counts = running.end();
    }

    const flux::simulated_faults faults;

  private:
    std::unique_ptr<flux::simulation> made_;

  public:
    /// Good until `run` comes back, and the server while it does.
    flux::simulation &world;
    running_server *server = nullptr;
    std::string trace;
    flux::source_counts counts;
    std::uint64_t failed_allocations = 0;
};

/// Calls `test(seed)`, which gives a trace, for so many seeds or for those that the environment names; ends with the
/// first that fails, and shows the trace of that, or of one that is repeated. How many there were.
template <class Test>
std::uint64_t for_seeds(std::uint64_t count, Test test)
{
    // The thread sanitizer takes a millisecond for each fiber.
    each_seed seeds(flux::thread_sanitizer ? count / 10 : count);
    for (const std::uint64_t seed : seeds) {
        const std::string trace = test(seed);
        if (testing::Test::HasFailure() || seeds.is_one()) {
            std::fputs(trace.c_str(), stderr);
        }
    }
    return seeds.count();
}

} // namespace network
