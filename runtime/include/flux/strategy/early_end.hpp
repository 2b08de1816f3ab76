/// \file
/// A wait for time to pass that any thread can end early, at the price of one load where nobody waits.
///
/// A source that pauses between two tries (`backoff.hpp`) goes on when one of its flows ends. Flows end often and
/// sources pause rarely, so a flow that ends only looks whether anybody is interested. What happens between a look of
/// the source and its wait is remembered, so it is not missed.
#pragma once

#include "flux/moment.hpp"
#include "flux/waiting/waiter.hpp"

#include <atomic>
#include <cstdint>

namespace flux {

/// Who may wait, and what has happened.
class early_end
{
  public:
    // For the one who waits.

    /// From now on it is remembered that `happened` was called; until `ignore`.
    void watch() noexcept
    {
        if (state_.load(std::memory_order_relaxed) == ignored) {
            state_.store(quiet, std::memory_order_release);
        }
    }

    /// What happens is of no interest.
    void ignore() noexcept
    {
        if (state_.load(std::memory_order_relaxed) != ignored) {
            state_.store(ignored, std::memory_order_relaxed);
        }
    }

    /// Waits at `place` until `until`, or until `happened` is called or has been since the last wait: whether it was.
    bool wait(waiter &place, moment until) noexcept;

    // For any thread.

    /// Ends the wait.
    void happened() noexcept
    {
        if (state_.load(std::memory_order_acquire) != ignored) {
            happened_to_who_watches();
        }
    }

  private:
    using state = std::uintptr_t;

    // Any other is the address of a `waiter`, to whom a wake is owed by the one who takes it out.
    static constexpr state ignored = 0;
    static constexpr state quiet = 1;
    static constexpr state news = 2;

    void happened_to_who_watches() noexcept;

    std::atomic<state> state_{ignored};
};

} // namespace flux
