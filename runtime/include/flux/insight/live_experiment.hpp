/// \file
/// An experiment on a running server: what a node that is faster would give. For a slice of time the node is faster,
/// virtually (`virtual_speed_up.hpp`), for the next it is as it is, and so on, so that what changes with time alone is
/// in both. Flows are followed in all slices, as that costs something, too.
#pragma once

#include "flux/flow/program.hpp"
#include "flux/strategy/runner.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace flux {

/// What is to be tried.
struct experiment_plan {
    node_number node = no_node;
    /// It takes so many percent less, in every second slice.
    unsigned percent = 25;
    std::chrono::milliseconds slice{250};
    /// So many slices, half of them with the node as it is; 0 for no end.
    std::size_t slices = 0;
};

/// One slice.
struct experiment_slice {
    unsigned percent;
    std::chrono::nanoseconds time;
    /// What of that were delays: the faster server would have needed so much less.
    std::chrono::nanoseconds delays;
    /// The flows that have ended.
    std::uint64_t flows;
    /// Those of them that were followed, and how long they took without delays, each from its first node on.
    virtual_speed_up::lives lives;
};

/// Reads `NODE=25%`, or `NODE` alone, of a node of the program. Nothing where it is none.
std::optional<experiment_plan> parse_experiment(std::string_view text, const program &of);

/// The experiments of one server, one at a time.
class live_experiment
{
  public:
    /// On the flows that these run; they outlive it.
    explicit live_experiment(runners &on) noexcept : on_(on) {}
    ~live_experiment() { end(); }
    live_experiment(const live_experiment &) = delete;
    live_experiment &operator=(const live_experiment &) = delete;

    /// Begins, after one that goes on has ended. For one thread at a time. Throws `std::system_error`.
    void begin(const experiment_plan &plan);
    /// Ends it. For one thread at a time.
    void end();

    /// What it has found so far, as JSON. Any thread may ask. Throws `std::bad_alloc`.
    std::string json() const;
    /// By which part more flows have ended in the same time with the faster node, less the delays: pairs of slices, a
    /// mean and its standard error.
    struct gain {
        std::size_t pairs = 0;
        double mean = 0;
        double error = 0;
    };
    gain throughput() const;
    /// Its last slices, the first of them first: 1024 of them at most. Any thread may ask. Throws `std::bad_alloc`.
    std::vector<experiment_slice> slices() const;

  private:
    struct reading;
    void run(const experiment_plan &plan);
    bool wait_for(std::chrono::milliseconds time);
    reading read() noexcept;

    runners &on_;
    mutable std::mutex lock_;
    std::condition_variable ended_;
    bool is_to_end_ = false;
    bool is_running_ = false;
    experiment_plan plan_;
    std::vector<experiment_slice> slices_;
    std::thread thread_;
};

} // namespace flux
