/// \file
/// Calls that sleep, or let others go first: the fiber parks, and the loop goes on. As all that waits on a loop they are
/// exact to a millisecond, and never shorter than was asked for. A flow that is cancelled or whose deadline passes does not sleep
/// on: the call fails with ECANCELED or ETIMEDOUT, and says how much was left where it can. A signal does not cut the
/// sleep of a fiber short.
#pragma once

#include <ctime>

namespace flux::calls {

/// As nanosleep(2), for this fiber.
int sleep_for(const timespec &time, timespec *remaining) noexcept;

} // namespace flux::calls
