#include "flux/cancellation.hpp"

namespace flux {

interrupted cancellation::cancel() noexcept
{
    std::uint32_t seen = word_.load(std::memory_order_relaxed);
    while ((seen & cancelled_bit) == 0) {
        const bool parked = (seen & park) == open;
        const bool waits = (seen & awaited) != 0;
        const std::uint32_t as_canceller = waits ? one_awaited : parked ? ended_by(park_end::cancelled) - open : 0;
        if (word_.compare_exchange_weak(seen, (seen | cancelled_bit) + as_canceller, std::memory_order_acq_rel,
                                        std::memory_order_relaxed)) {
            return waits ? interrupted::branches : parked ? interrupted::park : interrupted::nothing;
        }
    }
    return interrupted::nothing;
}

void cancellation::open_park() noexcept
{
    // Nobody else changes these bits now.
    const std::uint32_t before = word_.load(std::memory_order_relaxed) & park;
    word_.fetch_add(open - before, std::memory_order_release);
}

bool cancellation::end_park(park_end how) noexcept
{
    std::uint32_t seen = word_.load(std::memory_order_acquire);
    while ((seen & park) == open) {
        if (word_.compare_exchange_weak(seen, seen - open + ended_by(how), std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
            return true;
        }
    }
    return false;
}

park_end cancellation::ended() const noexcept
{
    return static_cast<park_end>(((word_.load(std::memory_order_acquire) & park) >> 1) - 2);
}

bool cancellation::await(std::uint32_t others) noexcept
{
    return (word_.fetch_add(others * one_awaited, std::memory_order_acq_rel) & cancelled_bit) != 0;
}

} // namespace flux
