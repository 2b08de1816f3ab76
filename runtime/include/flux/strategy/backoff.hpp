/// \file
/// How long a source pauses that fails without having waited for anything: one that polls with a time limit of zero, or
/// that finds no descriptors.
///
/// A source that waits before it fails is not slowed down, and the first failure after a success costs nothing. Then
/// two rules hold. The pause is at least so long that tries take an eighth of one processor at most, whatever one
/// costs. And it grows with the time in which nothing has happened, as a sixteenth of it, up to a bound: so a busy
/// source is tried often, an idle one rarely, and no client waits for much longer than it let the server wait.
/// Something has happened when the source succeeds, or when one of its flows ends, as that may have left something for
/// the source; then the pause ends early (`early_end.hpp`).
#pragma once

#include "flux/moment.hpp"

#include <chrono>

namespace flux {

/// The failures of one source in a row.
class backoff
{
  public:
    /// A failure that took this long has waited by itself.
    static constexpr std::chrono::milliseconds waited{1};
    /// A pause is so many times as long as the try before it: tries have an eighth of a processor.
    static constexpr int pause_for_each_try = 7;
    /// The shortest pause: to pause costs a few microseconds itself.
    static constexpr std::chrono::microseconds shortest_pause{50};
    /// The longest pause.
    static constexpr std::chrono::milliseconds longest_pause{100};
    /// A pause is at most this part of the time in which nothing has happened.
    static constexpr int part_of_quiet_time = 16;

    /// How long to pause.
    struct pause {
        /// So long in any case.
        std::chrono::nanoseconds at_least{0};
        /// And so long where nothing happens meanwhile.
        std::chrono::nanoseconds at_most{0};

        bool operator==(const pause &other) const noexcept = default;
    };

    /// The source succeeded.
    void succeeded() noexcept { watching_ = false; }

    /// One of its flows has ended, by this time.
    void flow_ended(moment by) noexcept { quiet_since_ = by; }

    /// The source failed at this time, after a try that took so long; the latter is not looked at where the source was
    /// not `watching`.
    pause failed(moment at, std::chrono::nanoseconds took) noexcept;

    /// Whether the source failed last, so that its next failure is to be timed. (A success is not: it costs a flow the
    /// reading of two clocks.)
    bool watching() const noexcept { return watching_; }

    /// True once: when the longest pause has been given.
    bool to_be_named() noexcept;

  private:
    moment quiet_since_;
    bool watching_ = false;
    bool reached_longest_ = false;
    bool named_ = false;
};

} // namespace flux
