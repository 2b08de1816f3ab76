/// \file
/// The one way in which the runtime waits: a place where one flow waits until another lets it go on.
///
/// Locks and bounds use this interface, so they work for whatever runs a flow: a thread, or a fiber of an event loop. A
/// waiter belongs to one of these, and nothing else waits on it. Each `wait` is answered by exactly one `wake`, which
/// may come first.
#pragma once

#include "flux/moment.hpp"
#include "flux/waiting/node_number.hpp"

#include <atomic>
#include <cstdint>

namespace flux {

/// Where one flow waits.
class waiter
{
  public:
    /// Returns when `wake` has been called once for this call.
    void wait() noexcept { wait_until(never); }

    /// As `wait`, but at most until `deadline`: whether `wake` was called. Where it was not, nobody owes it any more,
    /// and one that comes later is for the next wait: who may still call it has to be asked before that.
    virtual bool wait_until(moment deadline) noexcept = 0;

    /// Lets others that need the same thread go first, where there are such and it is their turn. Whoever has a thread
    /// to itself leaves that to the kernel.
    virtual void give_way() noexcept {}

    /// Lets the one that waits go on, or that will. What was written before it can be read after `wait`. As soon as the
    /// other goes on, this object may be gone.
    virtual void wake() noexcept = 0;

    /// The node that the flow is at which runs or waits here. Any thread may ask.
    std::atomic<node_number> position{no_node};

  protected:
    ~waiter() = default;
};

/// Where a thread waits: on a futex. It does not spin: measured on two cores, a spin before the system call made the
/// lock no faster between two threads and slower between more (`bench/lock`).
class thread_waiter final : public waiter
{
  public:
    bool wait_until(moment deadline) noexcept override;
    void wake() noexcept override;

  private:
    enum state : std::uint32_t { nobody, asleep, woken };
    std::atomic<std::uint32_t> state_{nobody};
};

} // namespace flux
