/// \file
/// The deadline of a step: `Ask within 300ms`. While it stands no wait of the flow, and none of the branches that begin
/// meanwhile, goes on for longer; what has an earlier deadline keeps that. A wait that it ends fails with ETIMEDOUT,
/// which the node returns as it would any error. A node that does not wait is not interrupted: what it has done
/// counts.
#pragma once

#include "flux/flow/flow.hpp"

#include <cstdint>

namespace flux {

/// A deadline for as long as the object lives. The flow's own comes back with its end.
class within
{
  public:
    /// From now on the flow has `time_ms`, unless it has less already; none where that is not above 0.
    within(flow &flow, std::int64_t time_ms) noexcept;
    within(const within &) = delete;
    within &operator=(const within &) = delete;
    ~within() { flow_.set_deadline(before_); }

  private:
    flow &flow_;
    const moment before_;
};

} // namespace flux
