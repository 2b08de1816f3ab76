/// \file
/// The bell of the thread that writes the log. As long as lines come now and then that thread wakes by itself, and is
/// to be woken only where much has come; when it rests it is to be woken for any line.
///
/// Who logs puts the line where the thread finds it, and then looks at the bell. The thread that comes to rest sets the
/// bell, and then looks for lines once more. In this order one of the two sees the other.
#pragma once

#include <atomic>

namespace flux {

/// Of one thread.
class log_bell
{
  public:
    // For the thread that writes.

    /// It is to be woken where much has come.
    void set_for_many() noexcept { state_.store(state::for_many); }

    /// It is to be woken for any line: whether it is to wait for that. It is not where `is_called_for`, which looks
    /// again, says so.
    template <class Look>
    bool set_for_any(Look is_called_for) noexcept
    {
        state_.store(state::for_any);
        // Who has taken the bell meanwhile wakes the thread, and that is to be waited for.
        return !is_called_for() || !take();
    }

    // For any thread, and in a signal.

    /// Whether the thread is to be woken for what has come, which may be much: `is_much` is asked where that matters.
    template <class Ask>
    bool rings(Ask is_much) const noexcept
    {
        const state now = state_.load();
        return now == state::for_any || (now == state::for_many && is_much());
    }

    /// Takes the bell away: whether it was there, and so whether the caller is to wake the thread.
    bool take() noexcept { return state_.exchange(state::off) != state::off; }

  private:
    enum class state : unsigned char { off, for_many, for_any };

    std::atomic<state> state_{state::off};
};

} // namespace flux
