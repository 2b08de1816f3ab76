/// \file
/// The heartbeat of a timer source.
#pragma once

#include <chrono>

namespace flux {

/// Beats at multiples of a period after its start. Beats that are missed coalesce: the next is the first multiple that
/// is still to come, so that a server that was held up does not run after the time.
class timer
{
  public:
    using clock = std::chrono::steady_clock;

    /// The first beat is one period from now.
    timer(std::chrono::milliseconds period, clock::time_point now) noexcept : period_(period), next_(now + period) {}

    /// When the next beat is due.
    clock::time_point next() const noexcept { return next_; }

    /// The beat that was due has been given, at `now`.
    void given(clock::time_point now) noexcept;

    /// Waits for the next beat; false where a signal came first.
    bool wait() noexcept;

  private:
    std::chrono::nanoseconds period_;
    clock::time_point next_;
};

} // namespace flux
