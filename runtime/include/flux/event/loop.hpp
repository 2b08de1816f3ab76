/// \file
/// An event loop: a thread that runs flows as fibers, as `event.hpp` says.
///
/// Others reach it in three ways: they push flows that are to start, they take some of these away, and they wake fibers
/// of it. All else is the thread's own and needs no lock: the flows that have begun, with their branches, and the
/// sources that run here, with what they make.
#pragma once

#include "flux/flow/branch_list.hpp"
#include "flux/event/fiber.hpp"
#include "flux/event/inbox.hpp"
#include "flux/io/loop_io.hpp"
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

    /// The source makes flows on this loop from now on. Called once for each of its sources, by one thread.
    void begin(source &replicable) noexcept;

    /// The loop whose thread calls; null elsewhere.
    static loop *running() noexcept;

    // For what runs here.

    /// The source that runs has made this flow: runs that in its turn, on the source's own fiber. True where it has
    /// come to its end so; false where it had to wait, and the source has gone on with another fiber meanwhile.
    bool run_pinned(flow &made) noexcept;

    /// As `strategy::offer` and `strategy::take_back`, for the flow that runs here.
    void offer(branch_base &unstarted) noexcept { branches_.push(unstarted); }
    bool take_back(branch_base &offered) noexcept { return branches_.take_back(offered); }

    // For any thread.

    /// The flow is to start here, or wherever it is taken to. Any thread calls this.
    void push(flow &started) noexcept;

    /// Whether its thread rests, as there is nothing to do. Any thread may ask.
    bool rests() const noexcept { return rests_.load(); }

    /// If its thread rests, has it look again for something to do. Any thread calls this.
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
    std::size_t high_water_mark() const noexcept { return stacks_.high_water_mark(); }

  private:
    class resident;

    /// Residents in a row, linked through themselves.
    class row
    {
      public:
        bool empty() const noexcept { return first_ == nullptr; }
        resident *first() const noexcept { return first_; }
        void push(resident &last) noexcept;
        resident *pop() noexcept;
        /// How many were ever appended, and how many taken.
        std::uint64_t pushed() const noexcept { return pushed_; }
        std::uint64_t taken() const noexcept { return taken_; }

      private:
        resident *first_ = nullptr;
        resident *last_ = nullptr;
        std::uint64_t pushed_ = 0;
        std::uint64_t taken_ = 0;
    };

    void work(watchdog &watched_by) noexcept;
    void run(resident &next) noexcept;
    void begin_turn(const resident &of) noexcept;
    bool may_begin_at(std::uint64_t now) noexcept;
    void go_on_elsewhere(source &making) noexcept;
    void say_whether_crowded() noexcept;
    resident *next() noexcept;
    resident *next_in_order() noexcept;
    resident *begin_first() noexcept;
    resident *begin_first_made() noexcept;
    template <class Waiting>
    resident *begin_first_of(Waiting &waiting) noexcept;
    resident *steal() noexcept;
    resident *free_resident() noexcept;
    bool has_free_resident() noexcept;
    resident *make_resident() noexcept;
    resident &first_resident();
    void set_free(resident &unused) noexcept;
    bool has_work() const noexcept;
    bool rest() noexcept;
    void look_at_world() noexcept;
    void collect_woken() noexcept;
    void collect_due() noexcept;
    void wake_up(resident &asleep) noexcept;

    const loop_list &loops_;
    runner &runner_;
    const std::unique_ptr<loop_io> io_;
    // Those for sources included.
    const std::size_t most_residents_;
    const std::uint64_t slice_;
    inbox inbox_;
    stack_store stacks_;
    std::vector<std::unique_ptr<resident>> residents_;
    // The one that runs, or did last.
    resident *running_resident_ = nullptr;
    // Those for sources that have not begun.
    row for_sources_;
    // Those without a flow, the one that was used last first; those that were woken; those that gave way.
    resident *free_ = nullptr;
    row woken_;
    row gave_way_;
    bool turn_of_woken_ = false;
    // Those that wait until a time, and when it was last looked whether that has come, and whether anything else has.
    timer_wheel timers_{io_->now()};
    std::uint64_t looked_at_ = 0;
    // The sources of this loop that have made a flow which has not begun, and the branches of flows that have.
    row made_;
    branch_list branches_;
    bool turn_of_made_ = false;
    // Those that were woken since, the last one first.
    std::atomic<resident *> just_woken_{nullptr};
    // There is no fiber for another flow, so flows wait until one that has begun ends; or until it is time to look for
    // memory again, where that was lacking.
    bool out_of_fibers_ = false;
    moment memory_again_ = never;
    std::atomic<bool> rests_{false};
    std::atomic<bool> closed_{false};
    std::atomic<std::uint64_t> turns_{0};
    std::atomic<const waiter *> running_{nullptr};
    // Set before the first of these.
    watched_thread watched_;
    std::thread thread_;
};

} // namespace flux
