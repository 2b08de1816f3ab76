#include "flux/constraint/lock.hpp"

#include <cstdlib>

namespace flux {

// One that waits, on the stack of the thread that does. The alignment leaves room below its address in the word.
struct alignas(64) lock::waiting {
    mode how;
    waiter *place;
    // On the stack: the arrival before this one. In first_: the one behind this one.
    waiting *next = nullptr;
    // It was woken once and found the lock taken by another.
    bool passed = false;
    // It holds the lock: set before it is woken.
    bool granted = false;
};

void lock::wait(mode how, waiter &place) noexcept
{
    waiting self{how, &place};
    if (take_or_push(self)) {
        return;
    }
    place.wait();
    while (!self.granted) {
        had_its_say(self);
        place.wait();
    }
}

// True where the lock came free meanwhile and was taken.
bool lock::take_or_push(waiting &self) noexcept
{
    const auto address = reinterpret_cast<std::uintptr_t>(&self);
    const std::uint64_t packed = address / alignof(waiting) << newest_shift;
    if ((packed >> newest_shift) * alignof(waiting) != address) {
        std::abort(); // an address of more than 48 bits, which Linux gives only to those who ask for it
    }
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    while (true) {
        if (may_take(seen, self.how)) {
            if (word_.compare_exchange_weak(seen, seen + added(seen, self.how), std::memory_order_acquire,
                                            std::memory_order_relaxed)) {
                return true;
            }
            continue;
        }
        self.next = reinterpret_cast<waiting *>((seen >> newest_shift) * alignof(waiting));
        if (word_.compare_exchange_weak(seen, (seen & ~newest_mask) | packed, std::memory_order_release,
                                        std::memory_order_relaxed)) {
            return false;
        }
    }
}

// The first waiter runs, woken by a release that left the lock free. If it is free still, the waiter takes it as a
// writer would and grants it to the first of the queue, which is itself, in its own mode and with the readers behind
// it. Else it asks that the next release grant it.
void lock::had_its_say(waiting &self) noexcept
{
    self.passed = true;
    std::uint64_t seen = word_.load(std::memory_order_acquire);
    while (true) {
        if ((seen & holders) == 0) {
            if (word_.compare_exchange_weak(seen, seen - waking_bit + writer_bit, std::memory_order_acq_rel,
                                            std::memory_order_acquire)) {
                return grant(writer_bit);
            }
        } else if (word_.compare_exchange_weak(seen, seen - waking_bit, std::memory_order_release,
                                               std::memory_order_acquire)) {
            return;
        }
    }
}

// The caller is the last holder, by `share`, which is still in the word.
void lock::pass_on(std::uint64_t share) noexcept
{
    if (first_ == nullptr) {
        first_ = collect(share);
    }
    if (first_->passed) {
        return grant(share);
    }
    waiter &place = *first_->place;
    word_.fetch_add(waking_bit - share, std::memory_order_release);
    place.wake();
}

// Gives the lock from the caller, who holds it alone by `share`, to the first of the queue. Additions suffice, as
// others can only push meanwhile.
void lock::grant(std::uint64_t share) noexcept
{
    if (first_->how != mode::write) {
        return grant_sharers(share);
    }
    waiting *const granted = first_;
    first_ = granted->next;
    granted->next = nullptr;
    const std::uint64_t change = writer_bit - share - (first_ == nullptr ? queued_bit : 0);
    if (change != 0) {
        word_.fetch_add(change, std::memory_order_release);
    }
    wake(granted);
}

// Gives the lock to all in the queue up to the first that wants it in another mode than the first of them.
void lock::grant_sharers(std::uint64_t share) noexcept
{
    waiting *const granted = first_;
    waiting *last = granted;
    const mode how = granted->how;
    std::uint64_t sharers = share_of(how);
    while (true) {
        while (last->next != nullptr && last->next->how == how) {
            last = last->next;
            sharers += one_sharer;
        }
        first_ = last->next;
        if (first_ != nullptr) {
            word_.fetch_add(sharers - share, std::memory_order_release);
            break;
        }
        std::uint64_t expected = share | queued_bit;
        if (word_.compare_exchange_strong(expected, sharers, std::memory_order_acq_rel, std::memory_order_relaxed)) {
            break;
        }
        last->next = collect(share); // more have come, and perhaps such
    }
    last->next = nullptr;
    wake(granted);
}

// Takes all that were pushed, in the order of their arrival; more have been. None are queued.
lock::waiting *lock::collect(std::uint64_t share) noexcept
{
    const std::uint64_t seen = word_.exchange(share | queued_bit, std::memory_order_acquire);
    auto *newest = reinterpret_cast<waiting *>((seen >> newest_shift) * alignof(waiting));
    waiting *oldest = nullptr;
    while (newest != nullptr) {
        waiting *const before = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = before;
    }
    return oldest;
}

// Wakes those to whom the lock was granted. Each is gone as soon as it is woken.
void lock::wake(waiting *granted) noexcept
{
    while (granted != nullptr) {
        waiting *const next = granted->next;
        waiter &place = *granted->place;
        granted->granted = true;
        place.wake();
        granted = next;
    }
}

} // namespace flux
