/// \file
/// How much there is to do on a loop, for others that have flows to start: how many have begun there and not ended,
/// but for those that wait for the world, as a peer or a time. Who waits for a constraint counts: those who wait for
/// the same one go on together, however long none of them did anything.
#pragma once

#include <atomic>
#include <cstddef>

namespace flux {

/// Of one loop. Its thread counts; any thread may ask.
class loop_load
{
  public:
    /// Somebody begins there, or waits for the world no more.
    void more() noexcept { change(1); }

    /// Somebody has ended, or waits for the world.
    void less() noexcept { change(-1); }

    /// How many have something to do, as far as others can know.
    std::size_t value() const noexcept { return static_cast<std::size_t>(present_.load(std::memory_order_relaxed)); }

  private:
    void change(long by) noexcept
    {
        present_.store(present_.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
    }

    std::atomic<long> present_{0};
};

} // namespace flux
