/// \file
/// What runs flows. The generated code is the same under every strategy; the strategy is chosen when the server starts:
/// `thread.hpp`, `pool.hpp`, `event.hpp`.
#pragma once

#include "flux/flow/blocking_call.hpp"
#include "flux/strategy/loop_facts.hpp"

#include <memory>
#include <span>

namespace flux {

class blocking_pool;
class branch_base;
class flow;
class loop;
class runner;

/// Runs the flows that sources start, and what of their branches it has threads for.
class strategy
{
  public:
    virtual ~strategy() = default;

    /// Sees to it that the flow runs to its end. Called by the flow's source, on a thread of its own, whose runner is
    /// `of_source`; what a source on a loop makes runs there. It may take its time, which holds the source back; it
    /// cannot fail.
    virtual void start(flow &made, runner &of_source) noexcept = 0;

    /// A flow has come to a parallel step: another thread may run this branch from now on, until it is taken back.
    virtual void offer(branch_base &unstarted) noexcept = 0;

    /// Whether nobody has begun with a branch that was offered: then it is the caller's, whose branch it is.
    virtual bool take_back(branch_base &offered) noexcept = 0;

    /// Runs the call of a node that is `blocking` for this flow, which runs here, and returns when it has ended: here
    /// too, or on another thread where this one has others to run. Throws what the call throws.
    virtual void run_blocking(flow &, blocking_call call) { call.run(); }

    /// The threads for calls that would hold up the loop which runs here; null where there are none. Calls that wait
    /// for others have threads apart from those that end by themselves.
    virtual blocking_pool *pool_for_calls([[maybe_unused]] bool wait_for_others) noexcept { return nullptr; }

    /// All flows have ended and no source runs any more: ends its threads, and returns when they are gone.
    virtual void finish() noexcept = 0;

    /// The event loops that replicable sources run on; none where each source has a thread of its own.
    virtual std::span<const std::unique_ptr<loop>> homes() const noexcept { return {}; }

    /// What it knows of its loops, if it has such. Any thread may ask. Throws `std::bad_alloc`.
    virtual loop_facts facts([[maybe_unused]] facts_wanted wanted = facts_wanted::all) { return {}; }
};

} // namespace flux
