/// \file
/// An event loop: a thread that runs flows as fibers, as `event.hpp` says.
///
/// Other threads do three things with it: they add flows that are to start, they take such flows away, and they wake
/// its fibers. Everything else belongs to the loop's thread and needs no lock: the flows that have started, their
/// branches, and the sources that run here.
///
/// The `scheduler` decides the order in which the loop goes on; the `resident_store` owns the fibers and their memory.
#pragma once

#include "flux/event/idle_flag.hpp"
#include "flux/event/inbox.hpp"
#include "flux/event/resident_store.hpp"
#include "flux/event/scheduler.hpp"
#include "flux/flow/branch_list.hpp"
#include "flux/flow/tally.hpp"
#include "flux/io/loop_io.hpp"
#include "flux/list/intrusive_list.hpp"
#include "flux/list/push_stack.hpp"
#include "flux/strategy/loop_facts.hpp"
#include "flux/strategy/runner.hpp"
#include "flux/waiting/thread_usage.hpp"
#include "flux/waiting/timer_wheel.hpp"
#include "flux/waiting/waiter.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace flux {

class watchdog;

/// What a loop runs now, for others to see.
struct loop_turn {
    /// How many turns there were, this one included.
    std::uint64_t number;
    /// The place that runs; null between two turns.
    const waiter *running;
};

class loop;

/// The loops of a server.
using loop_list = std::vector<std::unique_ptr<loop>>;

/// A thread with its flows.
class loop
{
  public:
    /// One of these loops. Uses this runner and this I/O, and at most so many fibers for flows, at least 1; so many
    /// sources will begin on it. Throws `std::bad_alloc`.
    loop(const loop_list &of, runner &own, std::unique_ptr<loop_io> through, std::size_t most_fibers,
         std::size_t sources);
    ~loop();
    loop(const loop &) = delete;
    loop &operator=(const loop &) = delete;

    /// Starts its thread. Throws `std::system_error`.
    void start(watchdog &watched_by);

    /// What it uses.
    runner &own() const noexcept { return runner_; }

    /// The time, by its I/O.
    moment now() const noexcept { return io_->now(); }

    /// The source makes flows on this loop from now on. Called once for each of its sources, by one thread.
    void begin(source &replicable) noexcept;

    /// The loop whose thread calls; null elsewhere.
    static loop *running() noexcept;

    // For what runs here.

    /// The source that runs has made this flow: runs that in its turn, on the source's own fiber. True where it has
    /// come to its end so; false where it had to wait, and the source has gone on with another fiber meanwhile.
    bool run_pinned(flow &made) noexcept { return running_resident_->run_made(made); }

    /// As `strategy::offer` and `strategy::take_back`, for the flow that runs here.
    void offer(branch_base &unstarted) noexcept { branches_.push(unstarted); }
    bool take_back(branch_base &offered) noexcept { return branches_.take_back(offered); }

    // For any thread.

    /// The flow is to start here, or wherever it is taken to. Any thread calls this.
    void push(flow &started) noexcept;

    /// Whether its thread waits, as there is nothing to do. Any thread may ask.
    bool idle() const noexcept { return idle_.is_set(); }

    /// How many flows and branches have something to do here, or wait to begin. Any thread may ask.
    std::size_t load() const noexcept { return residents_.load().value() + inbox_.size(); }

    /// Whether, when it has nothing to run, it begins one of the flows that wait at the other: where it still has less
    /// to do then. Flows stay where they have begun. So a loop with many that wait for a constraint leaves new ones,
    /// which wait behind these, to a loop with fewer: else it would have them all when the constraint is free, and the
    /// other none. Any thread may ask.
    bool may_steal_from(const loop &other) const noexcept
    {
        return other.waiting() != 0 && load() + 1 < other.load();
    }

    /// If its thread is idle, has it look again for something to do. Any thread calls this.
    bool wake() noexcept;

    /// What runs now. Any thread may ask.
    loop_turn turn() const noexcept;

    /// Its thread, for whoever has seen something run there.
    const watched_thread &thread() const noexcept { return watched_; }

    /// No flow is there and none will come: its thread ends.
    void close() noexcept;

    /// Waits until its thread is gone.
    void join();

    /// The most bytes of stack that a flow has needed so far. Any thread may ask.
    std::size_t high_water_mark() const noexcept { return residents_.high_water_mark(); }

    /// How many stacks were made for its flows, and how many flows wait to begin here. Any thread may ask.
    std::size_t stacks() const noexcept { return residents_.stacks(); }
    std::size_t waiting() const noexcept { return inbox_.size(); }

    /// How many flows have begun here so far. Any thread may ask.
    std::uint64_t flows() const noexcept { return flows_.value(); }

    /// How often it has slept so far. Any thread may ask.
    loop_sleeps sleeps() const noexcept;

    /// How many peers it has accepted so far. Any thread may ask.
    std::uint64_t accepted() const noexcept { return io_->accepted(); }

  private:
    friend class resident;

    void work_until_closed(watchdog &watched_by) noexcept;
    void run(resident &next) noexcept;
    resident *next() noexcept;
    work_set can_run() noexcept;
    resident *take(work which) noexcept;
    resident *take_made() noexcept;
    template <class Waiting>
    resident *begin_first_of(Waiting &waiting) noexcept;
    resident *steal() noexcept;
    bool has_work() const noexcept;
    bool wait_for_work() noexcept;
    void sleep() noexcept;
    void look_at_world() noexcept;
    void collect_woken() noexcept;
    void collect_due(moment idle_since) noexcept;
    void update_crowded() noexcept;

    // For its residents.
    void begin_turn(const resident &of) noexcept;
    bool may_begin_at(std::uint64_t now) noexcept;
    void go_on_elsewhere(source &making) noexcept;
    void wake_up(resident &asleep) noexcept;

    // Of its thread alone, but for what never changes. What others write has a cache line of its own, below, and so has
    // what they only read.
    const loop_list &loops_;
    runner &runner_;
    const std::unique_ptr<loop_io> io_;
    const std::uint64_t slice_;
    const std::uint64_t batch_;
    resident_store residents_;
    scheduler order_;
    // The one that runs, or did last.
    resident *running_resident_ = nullptr;
    // Those for sources that have not begun.
    intrusive_list<resident> for_sources_;
    // What can run, beside what is in the inbox: those that were woken; those that gave way; the sources of this loop
    // that have made a flow which has not begun; the branches of flows that have.
    intrusive_list<resident> woken_;
    intrusive_list<resident> gave_way_;
    intrusive_list<resident> made_;
    queue_counts made_counts_;
    branch_list branches_;
    // Those that wait until a time, and when it was last looked whether that has come, and whether anything else has.
    timer_wheel timers_{io_->now()};
    std::uint64_t looked_at_ = 0;
    watched_thread watched_; // set before the first turn
    std::thread thread_;
    // Others have started these flows here, and have woken these since the last look.
    alignas(64) inbox inbox_;
    push_stack<resident> just_woken_;
    idle_flag idle_;
    std::atomic<bool> closed_{false};
    alignas(64) tally turns_;
    tally flows_;
    // As `loop_sleeps`.
    tally sleeps_;
    tally measured_sleeps_;
    tally worked_ns_;
    std::atomic<const waiter *> running_{nullptr};
};

} // namespace flux
