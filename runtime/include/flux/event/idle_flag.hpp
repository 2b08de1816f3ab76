/// \file
/// Whether the thread of a loop waits for work, for those who bring some: an event count with one who waits.
/// (D. P. Reed, R. K. Kanodia, "Synchronization with eventcounts and sequencers", CACM 22(2), 1979)
///
/// Who brings work puts it where the thread finds it, and then looks at the flag. The thread sets the flag, and then
/// looks for work once more. In this order one of the two sees the other, whatever happens at once.
#pragma once

#include <atomic>

namespace flux {

/// Of one thread.
class idle_flag
{
  public:
    // For the thread.

    /// It has found nothing to do: whether it is to wait. It is not where `is_called_for`, which looks again, says so.
    template <class Look>
    bool begin(Look is_called_for) noexcept
    {
        idle_.store(true);
        // Who has taken the flag meanwhile interrupts the wait, and so there has to be one.
        return !is_called_for() || !idle_.exchange(false);
    }

    /// It waits no more.
    void end() noexcept { idle_.store(false); }

    // For any thread.

    /// Whether it waits, or is about to.
    bool is_set() const noexcept { return idle_.load(); }

    /// Whether the caller is to interrupt the wait: where there is one, and for the first who asks.
    bool take() noexcept { return idle_.load() && idle_.exchange(false); }

  private:
    std::atomic<bool> idle_{false};
};

} // namespace flux
