/// \file
/// A park: one wait of a flow for something outside of it, which ends in exactly one of three ways. It is completed by
/// whoever the flow waits for, or its deadline passes, or the flow is cancelled: by a client that is gone, or by a
/// server that ends.
///
/// The first who ends a park decides how; all others come too late and know it. So a completion that races with a
/// timeout is either the answer or not, never both, and what it carries is not lost: who comes too late keeps it. A
/// park waits in whatever way its flow does, on a thread or on a fiber.
///
/// The deadline of the flow bounds each of its parks, and a flow that is cancelled parks no more: each later park ends
/// at once. So a flow that has no time left comes to its end through its own error handlers, as after any other error.
#pragma once

#include "flux/waiting/cancellation.hpp"
#include "flux/moment.hpp"

namespace flux {

class flow;

/// The error code that a call which parked fails with: 0, ETIMEDOUT or ECANCELED.
int error_of(park_end end) noexcept;

/// One wait. A flow has one at a time.
class park
{
  public:
    /// For this flow, which waits soon.
    explicit park(flow &by) noexcept;
    park(const park &) = delete;
    park &operator=(const park &) = delete;

    /// Waits until somebody has ended the park, but at most until `deadline` or the flow's own, whichever is first.
    /// Called once.
    park_end wait(moment deadline = never) noexcept;

    /// Ends the park, now or before it begins, if nobody has: whether it was this call that did. Any thread calls this,
    /// while the park exists; after a call that gives true it may be gone.
    bool end(park_end how) noexcept;

  private:
    flow &flow_;
};

} // namespace flux
