/// \file
/// The options that every server has: flags that start with `--flux-`, and environment variables for the same. The rest
/// of the command line is the program's own.
#pragma once

#include "flux/address.hpp"
#include "flux/insight/span_exporter.hpp"
#include "flux/event/event.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace flux {

/// What runs flows.
enum class strategy_kind { thread, pool, event };

/// How event loops ask the world: by epoll, by io_uring, or not at all, as the world is simulated.
enum class io_kind { reactor, proactor, simulation };

/// What is reported when the server ends.
enum class report_kind { none, text, json };

/// What this run of the program is to do.
enum class run_kind { serve, show_help, show_version };

/// The options, with what holds where nothing is said.
struct options {
    /// `--flux-runtime`
    strategy_kind strategy = strategy_kind::pool;
    /// `--flux-io`, where event loops run flows; a simulation has one loop of its own, whatever else is said.
    io_kind io = io_kind::reactor;
    /// Whether `--flux-io` or its variable names reactor or proactor.
    bool io_is_chosen = false;
    /// What the simulation goes by.
    std::uint64_t seed = 0;
    /// `--flux-workers`: the threads of the pool, or the event loops. 0 for what fits: of a pool four times the
    /// processors that the server may use, at least 16, as nodes wait; of event loops one for each processor.
    std::size_t workers = 0;
    /// `--flux-max-flows`: how many flows of one source may be in progress.
    std::size_t max_flows = 1024;
    /// `--flux-queue`: how many flows may wait for a thread of the pool.
    std::size_t queue = 1024;
    /// `--flux-blocking`: on how many threads beside the event loops nodes may run that block.
    std::size_t blocking = most_blocking;
    /// `--flux-deadline`: the time that a flow has from its start until it fails wherever it waits; 0 for no limit.
    std::chrono::milliseconds deadline{0};
    /// `--flux-drain`: how long flows may go on when the server is asked to end.
    std::chrono::milliseconds drain{30'000};
    /// `--flux-takeover`: the path of the socket through which one server takes over from another; empty for none.
    std::string takeover;
    /// `--flux-report`
    report_kind report = report_kind::none;
    /// `--flux-admin`: where the server can be asked how it runs; nothing where it cannot.
    std::optional<address> admin;
    /// `--flux-keys`: whether what the server says of itself names keys that flows wait for.
    bool names_keys = true;
    /// `--flux-trace`: one flow in so many says what happens to it; 0 for none.
    std::uint64_t trace_one_in = 0;
    /// `--flux-spans`: the collector that has spans of flows; nothing where none are kept.
    std::optional<span_collector> spans;
    /// `--flux-spans-one-in`
    std::uint64_t spans_one_in = 1000;
    /// `--flux-speed-up`: the node that is faster, virtually, and by how much (`live_experiment.hpp`); empty for none.
    std::string speed_up;
    /// Where the report goes; empty for standard error.
    std::string report_file;
    /// `--flux-help`, `--flux-version`
    run_kind run = run_kind::serve;
};

/// Gives the value of an environment variable or null: `std::getenv`, but in tests.
using environment = char *(*)(const char *name);

/// Reads the options from the environment and then from the arguments, and takes those of Flux out of the latter (up to
/// a `--`); `argv[argc]` stays null. `--help` is `--flux-help`. Gives a message where something is wrong, and nothing
/// where all is well.
std::string read_options(options &into, int &argc, char **argv, environment variables);

/// What `--flux-help` prints, for a program of this name, whose own options are described by `program_options`; of one
/// that runs on event loops alone it says so.
std::string help_text(const char *program_name, const std::string &program_options, bool on_loops = false);

/// How the option spells a strategy.
const char *strategy_name(strategy_kind which) noexcept;

} // namespace flux
