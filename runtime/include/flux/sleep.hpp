/// \file
/// Sleep: how a node waits for nothing but time. On an event loop the loop goes on with other flows meanwhile.
#pragma once

#include "flux/moment.hpp"

namespace flux {

/// Returns at this time, rounded up to a millisecond on an event loop: 0, or an error of `errno.h` where the sleep was
/// cut short: ETIMEDOUT as the deadline of the flow has passed, ECANCELED as the flow is cancelled.
int sleep_until(moment until) noexcept;

/// As above, so long from now.
int sleep_for(clock::duration time) noexcept;

} // namespace flux
