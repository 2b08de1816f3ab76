/// \file
/// A park: one wait of a flow for something outside of it. It ends in exactly one of three ways. It is completed by
/// what the flow waits for; or its deadline passes; or the flow is cancelled, because a client is gone or the server
/// ends.
///
/// The first event to end a park decides how; later ones see that they came too late. So when a completion races with a
/// timeout, the park ends with exactly one of them, and a completion that came too late keeps what it carries, so
/// nothing is lost. A park waits in the way of its flow, on a thread or on a fiber.
///
/// The deadline of the flow bounds each of its parks. A cancelled flow does not park any more: each later park ends at
/// once. So a flow that has no time left ends through its own error handlers, as after any other error.
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
