/// \file
/// One run of the `network` program on one loop under the simulation, and what every run must keep: nobody hangs,
/// nothing is left open, each flow that started has ended and is counted.
///
/// A run that fails says its seed. `FLUX_SIMULATION_SEED=N` repeats that seed alone, with its trace on standard error;
/// `FLUX_SIMULATION_SEEDS=M` has each test run M seeds, from N on where that is given too.
#pragma once

#include "flux/waiting/sanitizer.hpp"
#include "flux/simulation/simulation.hpp"
#include "network_program.hpp"

#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <optional>
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
/// first that fails. How many there were.
template <class Test>
std::uint64_t for_seeds(std::uint64_t count, Test test)
{
    const auto number = [](const char *variable) {
        const char *const value = std::getenv(variable);
        return value != nullptr ? std::optional(std::strtoull(value, nullptr, 10)) : std::nullopt;
    };
    const auto first_seed = number("FLUX_SIMULATION_SEED");
    const auto seeds = number("FLUX_SIMULATION_SEEDS");
    const bool repeats = first_seed && !seeds;
    // The thread sanitizer takes a millisecond for each fiber.
    const std::uint64_t usual = flux::thread_sanitizer ? count / 10 : count;
    const std::uint64_t begin = first_seed.value_or(0);
    const std::uint64_t end = begin + (repeats ? 1 : seeds.value_or(usual));
    for (std::uint64_t seed = begin; seed < end; ++seed) {
        const testing::ScopedTrace place(__FILE__, __LINE__, "to repeat: FLUX_SIMULATION_SEED=" + std::to_string(seed));
        const std::string trace = test(seed);
        if (testing::Test::HasFailure() || repeats) {
            std::fputs(trace.c_str(), stderr);
        }
        if (testing::Test::HasFailure()) {
            break;
        }
    }
    return end - begin;
}

} // namespace network
