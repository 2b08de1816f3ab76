/// \file
/// Points in time: of the one clock that deadlines, timers and parks go by, and which only goes forward.
#pragma once

#include <chrono>
#include <ctime>

namespace flux {

/// What is measured: CLOCK_MONOTONIC, or the clock of a simulation.
using clock = std::chrono::steady_clock;

/// A point in time.
using moment = clock::time_point;

/// The deadline of what has none.
inline constexpr moment never = moment::max();

/// A time of at least 0, as the system's calls want it.
inline std::timespec timespec_of(std::chrono::nanoseconds time) noexcept
{
    const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
    return {static_cast<std::time_t>(seconds.count()), static_cast<long>((time - seconds).count())};
}

} // namespace flux
