/// \file
/// A counter that one thread writes and any thread may read: to count is no locked operation.
#pragma once

#include <atomic>
#include <cstdint>

namespace flux {

/// Counts from 0.
class owned_counter
{
  public:
    /// Only the thread that owns it calls this.
    void add() noexcept { value_.store(value() + 1, std::memory_order_relaxed); }

    /// Any thread may ask. What was written before an `add` is not seen through this.
    std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

  private:
    std::atomic<std::uint64_t> value_{0};
};

} // namespace flux
