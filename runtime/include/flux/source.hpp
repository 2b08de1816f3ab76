/// \file
/// Sources: where flows come from. Each runs for ever on a thread of its own: it takes a flow that is not in use, makes
/// the values for it, and hands it to the strategy.
///
/// An error of a source means that there was nothing this time. A source that keeps failing without waiting for
/// anything (no descriptors left, say) would spin: it is slowed down, and named on standard error, once.
#pragma once

#include "flux/flow_store.hpp"
#include "flux/paths.hpp"
#include "flux/runner.hpp"
#include "flux/slow_down.hpp"
#include "flux/strategy.hpp"
#include "flux/timer.hpp"

#include <atomic>
#include <thread>

namespace flux {

/// What one source of the program is at run time.
class source
{
  public:
    /// For the source of this number. Its thread will use `own`. Each of its flows has so long until its deadline; 0
    /// stands for no deadline. Throws `std::bad_alloc`.
    source(const program &of, source_number number, std::size_t max_flows, strategy &by, runner &own,
           std::chrono::milliseconds time = std::chrono::milliseconds(0));

    /// Starts its thread. Throws `std::system_error`.
    void start();

    /// Makes no further values: its thread ends as soon as it gets to know. Call it again until `ended`, as a source
    /// that waits for the world can only be interrupted, and may miss that.
    void stop() noexcept;

    /// Whether its thread makes no further values.
    bool ended() const noexcept { return ended_.load(std::memory_order_acquire); }

    /// Waits until its thread is gone; it has `ended`.
    void join() { thread_.join(); }

    /// Cancels its flows that are in progress. They come to their end by themselves.
    void cancel_flows() noexcept { flows_.cancel_all(); }

    /// Runs a flow of this source to its end on the calling thread, counts it, and takes it back.
    void run(flow &started, runner &on) noexcept;

    /// The program that it is a source of.
    const program &of() const noexcept { return program_; }

    /// What the program says of it.
    const source_info &info() const noexcept { return info_; }

    /// The name of a node of the program; the source's own for `no_node`.
    const char *node_name(node_number node) const noexcept;

    /// The strategy that runs its flows.
    strategy &started_by() const noexcept { return strategy_; }

  private:
    void loop() noexcept;
    bool produce(flow &into) noexcept;
    bool wait_for_beat() noexcept;
    bool make_values(flow &into) noexcept;
    void failed(int error, std::chrono::nanoseconds took) noexcept;

    const program &program_;
    const source_info &info_;
    const source_number number_;
    const source_paths paths_;
    strategy &strategy_;
    runner &own_;
    const std::chrono::milliseconds time_;
    flow_store flows_;
    slow_down slow_down_;
    timer timer_;
    std::uint64_t last_id_ = 0;
    std::atomic<bool> stopping_{false};
    // Whether it may wait for the world, so that an interruption hits nothing else.
    std::atomic<bool> producing_{false};
    std::atomic<bool> ended_{false};
    std::thread thread_;
};

} // namespace flux
