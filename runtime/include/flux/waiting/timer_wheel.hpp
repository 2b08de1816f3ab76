/// \file
/// A timer wheel: which of many deadlines comes next, where most of them are cancelled before they come.
///
/// It is the hierarchical wheel of Varghese and Lauck, "Hashed and Hierarchical Timing Wheels: Data Structures for the
/// Efficient Implementation of a Timer Facility" (SOSP 1987), scheme 7. Time is counted in ticks, and the number of a
/// tick is written with digits of 6 bits. Each digit has a wheel of 64 slots: a deadline stands in the wheel of the
/// highest digit in which it differs from now, in the slot of that digit. So what is in a lower wheel comes before all
/// in a higher one, and within a wheel slots come in order. When the time of a slot of a higher wheel comes, what is in
/// there is spread over the lower ones; a deadline is moved so at most once for each digit. Words of 64 bits tell which
/// slots are in use, so no time is spent on empty ones, however far the clock has gone.
///
/// A tick is a millisecond: the times that servers wait for are longer by orders of magnitude, and `epoll_wait` knows
/// no shorter one. Deadlines are rounded up, so a timer is never early, and at most a tick late.
///
/// Whoever waits brings the entry, so nothing is allocated. A slot is a chain of its own kind, not an `intrusive_list`:
/// an entry knows what points to it, not its slot, so most entries leave their slot without a look at it, and the 512
/// slots of a loop are one pointer each. A wheel belongs to one thread.
#pragma once

#include "flux/moment.hpp"

#include <array>
#include <cstdint>

namespace flux {

/// Deadlines in order.
class timer_wheel
{
  public:
    /// A deadline, or the place for one: part of what waits for it.
    class entry
    {
      public:
        entry() noexcept = default;
        entry(const entry &) = delete;
        entry &operator=(const entry &) = delete;

      private:
        friend class timer_wheel;

        entry *next_ = nullptr;
        // What points to it; null where it is in no wheel.
        entry **link_ = nullptr;
        std::uint64_t due_ = 0;
        unsigned char wheel_ = 0;
        unsigned char slot_ = 0;
    };

    /// What deadlines are rounded up to.
    static constexpr std::chrono::milliseconds tick{1};

    /// Without deadlines. The clock shows `now`.
    explicit timer_wheel(moment now) noexcept;
    timer_wheel(const timer_wheel &) = delete;
    timer_wheel &operator=(const timer_wheel &) = delete;

    /// Whether there are no deadlines. O(1).
    bool empty() const noexcept { return wheels_in_use_ == 0; }

    /// The entry is due at this time, or at once if that has passed. It is not in a wheel. O(1).
    void set(entry &waiting, moment due) noexcept;

    /// The entry is not due any more, if it was. O(1).
    void cancel(entry &waiting) noexcept;

    /// A time before which nothing is due; `never` where there are no deadlines. It is that of the first deadline,
    /// rounded up, if that is less than 64 ticks away, else it may be earlier. O(1).
    moment next() const noexcept;

    /// The clock shows `now`: takes the first entry that is due, earlier ticks first; null where there is none. Not
    /// more than O(1) for each time that a deadline is taken or moved to a lower wheel.
    entry *take_due(moment now) noexcept;

  private:
    static constexpr unsigned digit_bits = 6;
    static constexpr unsigned slot_count = 1U << digit_bits;
    // 48 bits: the clock, 63 bits of nanoseconds, has 44 of ticks.
    static constexpr unsigned wheel_count = 8;

    static constexpr unsigned digit(std::uint64_t ticks, unsigned wheel) noexcept
    {
        return static_cast<unsigned>(ticks >> (wheel * digit_bits)) % slot_count;
    }

    std::uint64_t next_tick(unsigned wheel) const noexcept;
    void place(entry &waiting) noexcept;
    void remove(entry &waiting) noexcept;

    std::uint64_t now_;
    unsigned wheels_in_use_ = 0;
    std::array<std::uint64_t, wheel_count> slots_in_use_{};
    std::array<std::array<entry *, slot_count>, wheel_count> slots_{};
};

} // namespace flux
