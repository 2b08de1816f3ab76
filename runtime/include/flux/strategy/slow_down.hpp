/// \file
/// How much a source that keeps failing is slowed down: not at all while it waits for something before it fails, nor
/// for a few failures in a row; then by pauses that double up to a bound, until it succeeds.
#pragma once

#include <chrono>
#include <cstddef>

namespace flux {

/// The failures of one source in a row.
class slow_down
{
  public:
    /// A failure that took this long has waited by itself.
    static constexpr std::chrono::milliseconds waited{1};
    /// So many failures in a row cost nothing.
    static constexpr std::size_t free_failures = 16;
    /// The longest pause.
    static constexpr std::chrono::milliseconds longest_pause{100};

    /// The source succeeded.
    void succeeded() noexcept { failures_ = 0; }

    /// The source failed, in this time: how long it is to rest.
    std::chrono::milliseconds failed(std::chrono::nanoseconds took) noexcept;

    /// Whether the source failed last, so that its next failure is to be timed. (A success is not: it costs a flow the
    /// reading of two clocks.)
    bool watching() const noexcept { return failures_ != 0; }

    /// True once: when the first pause has been given.
    bool to_be_named() noexcept;

  private:
    std::size_t failures_ = 0;
    bool named_ = false;
};

} // namespace flux
