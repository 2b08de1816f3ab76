#include "flux/timer_wheel.hpp"

#include <algorithm>
#include <bit>

namespace flux {
namespace {

constexpr std::int64_t tick_ns = std::chrono::nanoseconds(timer_wheel::tick).count();

// The tick in which this time is.
std::uint64_t tick_of(moment when) noexcept
{
    return static_cast<std::uint64_t>(std::max(when, moment()).time_since_epoch().count() / tick_ns);
}

moment begin_of(std::uint64_t tick) noexcept
{
    return moment(std::chrono::nanoseconds(static_cast<std::int64_t>(tick) * tick_ns));
}

// The first tick that does not begin before this time, or the last one of the clock.
std::uint64_t tick_from(moment when) noexcept
{
    const std::uint64_t current = tick_of(when);
    return current < tick_of(never) && begin_of(current) < when ? current + 1 : current;
}

} // namespace

timer_wheel::timer_wheel(moment now) noexcept : now_(tick_of(now)) {}

void timer_wheel::set(entry &waiting, moment due) noexcept
{
    waiting.due_ = std::max(tick_from(due), now_);
    place(waiting);
}

void timer_wheel::cancel(entry &waiting) noexcept
{
    if (waiting.link_ != nullptr) {
        remove(waiting);
    }
}

moment timer_wheel::next() const noexcept
{
    return empty() ? never : begin_of(next_tick(static_cast<unsigned>(std::countr_zero(wheels_in_use_))));
}

timer_wheel::entry *timer_wheel::take_due(moment now) noexcept
{
    const std::uint64_t reached = tick_of(now);
    while (!empty()) {
        const auto wheel = static_cast<unsigned>(std::countr_zero(wheels_in_use_));
        const std::uint64_t next = next_tick(wheel);
        if (next > reached) {
            break;
        }
        now_ = next;
        entry *&first = slots_[wheel][digit(next, wheel)];
        if (wheel == 0) {
            entry *const due = first;
            remove(*due);
            return due;
        }
        while (first != nullptr) {
            entry &moved = *first;
            remove(moved);
            place(moved);
        }
    }
    now_ = std::max(now_, reached);
    return nullptr;
}

// The tick at which the first slot of this wheel that is in use begins. The digits above are those of now.
std::uint64_t timer_wheel::next_tick(unsigned wheel) const noexcept
{
    const auto slot = static_cast<std::uint64_t>(std::countr_zero(slots_in_use_[wheel]));
    const unsigned shift = wheel * digit_bits;
    return (((now_ >> shift) & ~std::uint64_t{slot_count - 1}) | slot) << shift;
}

void timer_wheel::place(entry &waiting) noexcept
{
    const std::uint64_t difference = waiting.due_ ^ now_;
    const unsigned wheel = difference == 0 ? 0 : static_cast<unsigned>(std::bit_width(difference) - 1) / digit_bits;
    const unsigned slot = digit(waiting.due_, wheel);
    entry *&first = slots_[wheel][slot];
    waiting.wheel_ = static_cast<unsigned char>(wheel);
    waiting.slot_ = static_cast<unsigned char>(slot);
    waiting.next_ = first;
    waiting.link_ = &first;
    if (first != nullptr) {
        first->link_ = &waiting.next_;
    }
    first = &waiting;
    slots_in_use_[wheel] |= std::uint64_t{1} << slot;
    wheels_in_use_ |= 1U << wheel;
}

void timer_wheel::remove(entry &waiting) noexcept
{
    *waiting.link_ = waiting.next_;
    if (waiting.next_ != nullptr) {
        waiting.next_->link_ = waiting.link_;
    }
    waiting.link_ = nullptr;
    const unsigned wheel = waiting.wheel_;
    if (slots_[wheel][waiting.slot_] == nullptr) {
        slots_in_use_[wheel] &= ~(std::uint64_t{1} << waiting.slot_);
        wheels_in_use_ &= ~(slots_in_use_[wheel] == 0 ? 1U << wheel : 0U);
    }
}

} // namespace flux
