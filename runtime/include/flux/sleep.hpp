/// \file
/// Sleeping. On an event loop, the loop continues with other flows meanwhile.
#pragma once

#include "flux/moment.hpp"

namespace flux {

/// Returns at this time, rounded up to a millisecond on an event loop: 0, or an error of `errno.h` where the sleep was
/// cut short: ETIMEDOUT as the deadline of the flow has passed, ECANCELED as the flow is cancelled.
int sleep_until(moment until) noexcept;

/// As above, for this time from now.
int sleep_for(clock::duration time) noexcept;

} // namespace flux
