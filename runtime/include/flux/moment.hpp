/// \file
/// Points in time: of the one clock that deadlines, timers and parks go by, and which only goes forward.
#pragma once

#include <chrono>

namespace flux {

/// What is measured: CLOCK_MONOTONIC, or the clock of a simulation.
using clock = std::chrono::steady_clock;

/// A point in time.
using moment = clock::time_point;

/// The deadline of what has none.
inline constexpr moment never = moment::max();

} // namespace flux
