/// \file
/// What a thread needs to run flows: a place to wait, its own counts, and a stack for the case of a crash. A thread
/// that runs flows as fibers has a place for each.
///
/// Threads come and go, one for each flow under the strategy `thread`; their runners stay and are used again. They end
/// with the server, so a waiter can be woken and counts can be read without checking whether the thread still exists.
#pragma once

#include "flux/flow/constraint_counts.hpp"
#include "flux/flow/failure_counts.hpp"
#include "flux/flow/flow_times.hpp"
#include "flux/process/crash.hpp"
#include "flux/constraint/lock.hpp"
#include "flux/io/server_io.hpp"
#include "flux/flow/node_stacks.hpp"
#include "flux/flow/path_counts.hpp"
#include "flux/list/intrusive_list.hpp"
#include "flux/flow/program.hpp"
#include "flux/flow/virtual_speed_up.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace flux {

/// Of runners that have no server.
inline constinit virtual_speed_up no_speed_up;

/// What runs flows.
class runner : public listed<runner>
{
  public:
    /// The times of constraints go to `times`, one for each, which outlive it; nowhere if that is empty. Throws
    /// `std::bad_alloc`.
    explicit runner(const program &of, const std::shared_ptr<server_io> &through = server_io::current(),
                    std::span<constraint_times> times = {}, virtual_speed_up &by = no_speed_up)
        : io_(through), speed_up_(by), constraint_counts_(std::make_unique<constraint_count[]>(of.constraints.size())), counts_(of)
    {
        for (std::size_t number = 0; number < times.size(); ++number) {
            constraint_counts_[number].add_times_to(times[number]);
        }
    }

    /// Where waits what its thread runs now.
    waiter &place() noexcept { return *place_; }

    /// Its thread goes on with what waits at this place.
    void wait_at(waiter &place) noexcept { place_ = &place; }

    /// Whether others wait for the thread. A flow that runs there looks between two nodes.
    const std::atomic<bool> &crowded() const noexcept { return crowded_; }
    /// Others wait from now on, where `update_crowded` finds them. Any thread says so.
    void set_crowded() noexcept { crowded_.store(true); }

    /// What its next flows look at between two nodes: whether others wait, or, while they are all to be followed,
    /// something that has them look up at each.
    const std::atomic<bool> &looked_at() const noexcept { return *looked_at_.load(std::memory_order_relaxed); }
    /// The same, for those that begin from now on. Any thread says so.
    void follow_all(bool all) noexcept { looked_at_.store(all ? &somebody_waits : &crowded_, std::memory_order_relaxed); }
    /// For which they are followed.
    virtual_speed_up &speed_up() const noexcept { return speed_up_; }

    /// Whether others wait is what `some_wait` finds, or what somebody says meanwhile. For its thread.
    template <class Look>
    void update_crowded(Look some_wait) noexcept
    {
        // What need not be changed is not: under load that is everything, and alone it is a write that all processors
        // agree on.
        const bool was_crowded = crowded_.load(std::memory_order_relaxed);
        if (some_wait()) {
            if (!was_crowded) {
                set_crowded();
            }
        } else if (was_crowded) {
            // In this order: what comes after the second look says so itself.
            crowded_.store(false);
            if (some_wait()) {
                set_crowded();
            }
        }
    }

    /// What its thread counts of each constraint.
    constraint_count *constraint_counts() const noexcept { return constraint_counts_.get(); }

    /// What its thread counts of flows and their paths. Others may read it at any time.
    path_counts &counts() noexcept { return counts_; }

    /// What its thread counts of errors. Others may read it at any time.
    failure_counts &failures() noexcept { return failures_; }

    /// The stacks that nodes ask for of its flows.
    node_stacks &stacks() noexcept { return node_stacks_; }

  private:
    friend class runners;
    friend class on_runner;

    // Of all runners.
    const std::shared_ptr<server_io> &io_;
    thread_waiter own_place_;
    waiter *place_ = &own_place_;
    std::atomic<bool> crowded_{false};
    std::atomic<const std::atomic<bool> *> looked_at_{&crowded_};
    virtual_speed_up &speed_up_;
    signal_stack stack_;
    std::unique_ptr<constraint_count[]> constraint_counts_;
    path_counts counts_;
    failure_counts failures_;
    node_stacks node_stacks_;
};

/// The calling thread uses this runner, from here to the end of the block: so it belongs to the runner's server.
class on_runner
{
  public:
    explicit on_runner(runner &own) noexcept : stack_(own.stack_), io_(own.io_) {}

  private:
    const on_signal_stack stack_;
    const on_server_io io_;
};

/// All runners of a server.
class runners
{
  public:
    /// Their threads belong to the server with this I/O. Keys of constraints that flows wait for are remembered, or
    /// not. Throws `std::bad_alloc`.
    explicit runners(const program &of, std::shared_ptr<server_io> through = server_io::current(),
                     bool names_keys = true);

    /// The program whose flows they run.
    const program &of() const noexcept { return program_; }

    /// What their server's I/O shares.
    const std::shared_ptr<server_io> &io() const noexcept { return io_; }

    /// How long the flows take that are timed.
    flow_times &times() noexcept { return times_; }

    /// Has all flows that begin from now on followed, for the virtual speed-up, or none.
    void follow_all(bool all) noexcept;
    /// The one of this server.
    virtual_speed_up &speed_up() noexcept { return speed_up_; }

    /// One that nobody else uses, until it is given back; null where there is no memory.
    runner *borrow() noexcept;

    /// Its counts are kept.
    void give_back(runner &unused) noexcept;

    /// The sum of all counts so far. Throws `std::bad_alloc`.
    path_counts total();

    /// What all threads have counted of each constraint so far. Throws `std::bad_alloc`.
    std::vector<constraint_totals> total_of_constraints();

    /// How long flows waited for each constraint and held it. Throws `std::bad_alloc`.
    std::vector<constraint_time_counts> times_of_constraints() const;

    /// What all threads have counted of errors so far. Throws `std::bad_alloc`.
    std::vector<failure_total> total_of_failures();

    /// What nodes have used so far of the stacks that they ask for, the most first. Throws `std::bad_alloc`.
    std::vector<node_stack_mark> marks_of_stacks();

    /// How many flows have ended so far.
    std::uint64_t flows_ended() noexcept;

    /// How many flows have started and not ended.
    std::uint64_t flows_in_progress() noexcept;

  private:
    template <class Count>
    std::uint64_t sum_of_sources(Count count) noexcept;

    const program &program_;
    const std::shared_ptr<server_io> io_;
    flow_times times_;
    std::vector<constraint_times> constraint_times_;
    virtual_speed_up speed_up_;
    bool follows_all_ = false;
    lock lock_;
    std::vector<std::unique_ptr<runner>> all_;
    intrusive_list<runner> idle_;
};

} // namespace flux
