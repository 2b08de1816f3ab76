/// \file
/// Sources: where flows come from. Each one runs for ever, on its own thread or on an event loop (`sources.hpp`): it
/// takes a flow that is not in use, makes the values for it, and hands it to the strategy.
///
/// An error of a source means that there was nothing this time. A source that keeps failing without waiting would spin,
/// for example if there are no descriptors left. So it pauses between its tries (`backoff.hpp`), and if that goes on
/// for long it is named on standard error, once.
#pragma once

#include "flux/by_type.hpp"
#include "flux/flow/flow_spans.hpp"
#include "flux/flow/flow_store.hpp"
#include "flux/flow/paths.hpp"
#include "flux/process/signals.hpp"
#include "flux/strategy/backoff.hpp"
#include "flux/strategy/early_end.hpp"
#include "flux/strategy/runner.hpp"
#include "flux/strategy/stragglers.hpp"
#include "flux/strategy/strategy.hpp"
#include "flux/waiting/timer.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace flux {

/// What holds for the flows of each source.
struct flow_settings {
    /// How many of them may be in progress, at least 1.
    std::size_t most;
    /// How long each has until its deadline; 0 where it has all the time.
    std::chrono::milliseconds time{0};
    /// One in so many is traced (`flow_trace.hpp`); 0 for none.
    std::uint64_t trace_one_in = 0;
    /// Of which the spans are kept.
    span_settings spans = {};
    /// In the end one in so many is timed (`flow/flow_timing.hpp`).
    std::uint32_t timed_one_in = timed_flows::rarest;
};

/// Which instance of a source it is. A source that is not replicable has one.
struct instance {
    /// The loop that it runs on; null where it has a thread of its own.
    loop *runs_on = nullptr;
    /// It is number `number`, from 0, of `of`.
    std::size_t number = 0;
    std::size_t of = 1;
};

/// What one source of the program is at run time, or one instance of it.
class source
{
  public:
    /// For the source of this number. Its thread will use `own`; how long its flows take goes to `times`. Throws
    /// `std::bad_alloc`.
    source(const program &of, source_number number, const flow_settings &flows, strategy &by, runner &own,
           flow_times &times, instance which = {});

    /// Begins on its loop, or starts its thread. Throws `std::system_error`.
    void start();

    /// Makes flows until it is stopped, or, on a loop, until one of them waits: then it has been called there again.
    void make_flows() noexcept;

    /// Makes no further values: it ends as soon as it gets to know, which is at once where it waits in a park. Call it
    /// again until `ended`, always on the same thread, as a source that waits in a system call can only be interrupted,
    /// and may miss that.
    void stop() noexcept;

    /// Whether it makes no further values.
    bool ended() const noexcept { return ended_.load(std::memory_order_acquire); }

    /// Has this called when it makes no further values, on its own thread or loop: so it can let go what it has, as the
    /// idle connections are. Each wait ends at once there. For the source itself, while it makes values. Throws
    /// `std::bad_alloc`.
    void when_stopped(std::function<void()> let_go) { when_stopped_.push_back(std::move(let_go)); }

    /// Its flows are bounded by what they are for, and one may wait for another that is still to be made: there is no
    /// bound of how many are in progress any more. For the source itself, while it makes values.
    void lift_bound() noexcept { flows_.lift_bound(); }

    /// What a node of this source keeps from one call to the next: each instance has a `State`, which the first call
    /// makes, and which is destroyed when the instance makes no further values, on its own thread or loop. For the
    /// source itself, while it makes values. Throws what the constructor throws, and `std::bad_alloc`.
    template <class State>
    State &state()
    {
        return states_.get<State>();
    }

    /// It waits to make values for this flow, on its loop: so that whoever stops it ends the wait.
    void begin_wait(flow &making) noexcept;
    /// It does not wait any more.
    void end_wait(flow &making) noexcept;

    /// Waits until its thread is gone, where it has one; it has `ended`.
    void join();

    /// Cancels its flows that are in progress. They come to their end by themselves.
    void cancel_flows() noexcept { flows_.cancel_all(); }

    /// Has each of its flows that is in progress seen. Any thread calls this. Throws `std::bad_alloc`.
    void look_at_flows(stragglers &by) const
    {
        flows_.visit_in_progress([&](const flow &each) { by.see(number_, each.id(), each.seen_at()); });
    }

    /// How many flows were made for it, and how many bytes each has. Any thread calls this.
    std::pair<std::size_t, std::size_t> flows_made() const noexcept { return flows_.made(); }

    /// How long its thread has had a processor, where it has one of its own. Any thread calls this.
    std::chrono::nanoseconds cpu_time() const noexcept;

    /// Runs a flow of this source to its end on the calling thread, counts it, and takes it back.
    void run(flow &started, runner &on) noexcept;

    /// The program that it is a source of.
    const program &of() const noexcept { return program_; }

    /// What the program says of it.
    const source_info &info() const noexcept { return info_; }

    /// The name of a node of the program; the source's own for `no_node`.
    const char *node_name(node_number node) const noexcept;

    /// Where an edge begins that its flows take first.
    edge_origin as_origin() const noexcept { return static_cast<edge_origin>(program_.nodes.size() + number_); }

    /// Where goes what its flows take.
    flow_times &times() const noexcept { return times_; }

    /// The strategy that runs its flows.
    strategy &started_by() const noexcept { return strategy_; }

    /// Has the spans of the flow kept that it makes values for, if its caller, who sends this `traceparent`, keeps them
    /// and the server keeps any. For the source itself.
    void continue_trace(flow &making, std::string_view traceparent) const noexcept;
    /// Whether the server keeps spans of any flows.
    bool keeps_spans() const noexcept { return settings_.spans.to != nullptr; }

    /// Whether it is the first instance of the source, or the only one.
    bool is_first() const noexcept { return instance_.number == 0; }

    /// The loop that all its flows stay on, as it runs there itself; null where they may begin anywhere.
    loop *home() const noexcept { return home_; }

  private:
    void run_thread() noexcept;
    void let_go() noexcept;
    bool produce(flow &into) noexcept;
    bool wait_for_beat(flow &into) noexcept;
    bool make_values(flow &into) noexcept;
    void pause(int error, moment tried_at) noexcept;
    void count_unhandled(const flow &failed, runner &on) const noexcept;

    const program &program_;
    const source_info &info_;
    const source_number number_;
    const source_paths paths_;
    strategy &strategy_;
    runner &own_;
    const flow_settings settings_;
    const instance instance_;
    loop *const home_;
    // So many flows until spans of one are kept.
    std::uint64_t until_spans_ = 1;
    timed_flows timed_;
    flow_times &times_;
    flow_store flows_;
    backoff backoff_;
    // Of a pause.
    early_end flow_ended_;
    timer timer_;
    // Instances number their flows in turns, so that no two flows of a source have one number.
    std::uint64_t next_id_;
    std::atomic<bool> stopping_{false};
    // From when it is stopped first: for who stops it alone.
    std::optional<interrupts> interrupts_;
    std::vector<std::function<void()>> when_stopped_;
    by_type states_;
    // What it makes values for: on a loop as long as it waits for that, on a thread of its own all the time, as there a
    // system call may wait. Who stops it takes that out, so that it stays what is being made, and what interrupts the
    // wait hits nothing else.
    std::atomic<flow *> making_{nullptr};
    std::atomic<bool> ended_{false};
    std::thread thread_;
    // Of its thread, which says so itself: the clock of what it has had of processors, and what that was at its end;
    // negative before.
    std::atomic<clockid_t> cpu_clock_{};
    std::atomic<std::int64_t> cpu_time_at_end_ns_{-1};
};

} // namespace flux
