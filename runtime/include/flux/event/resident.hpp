/// \file
/// A resident of a loop: a fiber together with what it runs: a flow, a branch or a source. It is also the place where
/// that waits, and has a second one for the calls of node code: for locks, and for calls that another thread does.
/// They are two, because a wake for the first may be on its way while the second waits: a node has entered itself in a
/// queue, say, and then waits for a lock before it waits for its turn.
#pragma once

#include "flux/event/fiber.hpp"
#include "flux/event/owned_locks.hpp"
#include "flux/event/scheduler.hpp"
#include "flux/list/intrusive_list.hpp"
#include "flux/waiting/timer_wheel.hpp"
#include "flux/waiting/waiter.hpp"

#include <atomic>
#include <cstdint>
#include <variant>

namespace flux {

class branch_base;
class flow;
class loop;
class source;

/// All but `wake` is called on the loop's thread.
class resident final : public waiter, public timer_wheel::entry, public listed<resident>
{
  public:
    using what = std::variant<flow *, branch_base *, source *>;

    /// Of this loop, on this stack.
    resident(loop &of, stack on) noexcept : loop_(of), fiber_(on) {}

    // For what it runs.

    bool wait_until(moment deadline) noexcept override { return wait_at(of_flow, deadline); }
    void wait_for_constraint() noexcept override;
    void give_way() noexcept override;

    /// The second place.
    waiter &place_of_calls() noexcept { return calls_; }

    /// What the calls of node code have locked.
    owned_locks &locks() noexcept { return locks_; }

    /// The one that runs node code on the calling thread; null where a thread does that by itself, or nobody.
    static resident *running() noexcept;

    /// The source that it runs has made this flow: runs that when its turn has come. True where the source goes on here
    /// afterwards: the flow has not waited.
    bool run_made(flow &made) noexcept;

    // For whoever it waits for.

    void wake() noexcept override { wake_at(of_flow); }

    // For its loop.

    /// It is to run this flow, this branch, or this source.
    void begin(what begun) noexcept;

    /// Goes on with it until it waits or has ended: whether it has.
    bool resume() noexcept;

    /// The time until which it waits has come: whether it goes on for that. If it was woken meanwhile it goes on for
    /// that. It is `now`, and its loop has been idle since then; `never` where it was not.
    bool come_due(moment now, moment idle_since) noexcept;

    /// Since it gave way: whether those have started that waited then.
    bool is_due(queue_counts started, queue_counts made) const noexcept { return ticket_.is_due(started, made); }

    const stack &on() const noexcept { return fiber_.on(); }

  private:
    enum state { nobody, asleep, woken };
    enum which_place : unsigned char { of_flow, of_calls };

    class second_place final : public waiter
    {
      public:
        explicit second_place(resident &whole) noexcept : whole_(whole) {}
        bool wait_until(moment deadline) noexcept override { return whole_.wait_at(of_calls, deadline); }
        void wake() noexcept override { whole_.wake_at(of_calls); }

      private:
        resident &whole_;
    };

    void run() noexcept;
    source *making_values() const noexcept;
    bool wait_at(which_place place, moment deadline) noexcept;
    bool sleep_until(which_place place, moment deadline) noexcept;
    void wake_at(which_place place) noexcept;
    void park() noexcept;

    loop &loop_;
    fiber fiber_;
    what begun_;
    // When it was resumed, by the loop's cycles.
    std::uint64_t resumed_at_ = 0;
    ticket ticket_;
    // While it runs a flow that its source has made: that source, until it goes on elsewhere.
    source *source_ = nullptr;
    second_place calls_{*this};
    owned_locks locks_;
    // Of both places; and at which of them it sleeps.
    std::atomic<state> states_[2]{};
    which_place sleeps_at_ = of_flow;
    bool is_for_constraint_ = false;
    // Whether its flow is timed; then, when it should go on by itself, and since when it can.
    bool is_timed_ = false;
    moment deadline_ = never;
    moment ready_at_ = never;
};

} // namespace flux
