/// \file
/// The reader/writer lock behind every constraint.
///
/// It is fair and yet no slower than unfair ones. Those who wait are served first come, first served, readers and
/// writers alike; readers who stand next to each other in the queue go in together. A lock that is strictly fair hands
/// itself to a thread that first has to be woken, and nobody can use it meanwhile: with more threads than processors
/// each acquisition then costs a change of threads (measured: 15 µs, against 0.1 µs of the C library's unfair locks).
/// So a lock that becomes free while some wait is left free and its first waiter is woken. Whoever runs meanwhile may
/// take it; the first waiter, when it runs and finds the lock taken, asks for it, and then the next release hands it
/// over. So a waiter can be passed, by whoever comes, only in the few microseconds of its own waking, and it is woken
/// so once; then nobody overtakes it. A waiting writer is passed by no reader that would join readers, so neither kind
/// starves the other.
///
/// All is in one 64-bit word, so that an acquisition and a release without contention are one atomic operation each:
///
///     63                                  22 21      3   2       1        0
///     | newest arrival, its address / 64    | readers | waking | queued | writer |
///
/// * `writer`, `readers`: who holds the lock.
/// * `newest arrival`: those who wait are pushed here, each pointing to the one before, as a lock-free stack.
/// * `queued`: more wait in `first_`, a list in the order of arrival. It is touched only by the last holder while it
///   passes the lock on, which is alone by then: nobody can join it or take the lock, others can only push. When the
///   list is empty it takes the whole stack and turns it round, so each waiter is moved once.
/// * `waking`: the first of `first_` has been woken while the lock was left free. Until it has had its say, releases
///   pass nothing on, and the list is its own to touch.
///
/// The stack and its reversal are an old trick (Treiber, "Systems programming: coping with parallelism", 1986); the
/// hand-over on demand is what Go's sync package calls starvation mode, here without its delay of a millisecond.
#pragma once

#include "flux/waiting/waiter.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace flux {

/// How a lock or a constraint is held: together with other readers, or alone.
enum class mode : unsigned char { read, write };

/// A fair reader/writer lock. It knows neither owners nor recursion: the compiler has proved that no flow takes what it
/// holds.
class lock
{
  public:
    /// How many may hold a lock or wait for it at once; the server bounds its flows by this.
    static constexpr std::uint64_t max_holders = (std::uint64_t{1} << 19) - 1;

    constexpr lock() noexcept = default;
    lock(const lock &) = delete;
    lock &operator=(const lock &) = delete;

    /// Takes the lock, waiting at `place` as long as it must.
    void acquire(mode how, waiter &place) noexcept
    {
        if (!try_acquire(how)) {
            wait(how, place);
        }
    }

    /// Takes the lock if that can be done at once.
    bool try_acquire(mode how) noexcept
    {
        std::uint64_t seen = word_.load(std::memory_order_relaxed);
        while (may_take(seen, how)) {
            if (word_.compare_exchange_weak(seen, seen + share_of(how), std::memory_order_acquire,
                                            std::memory_order_relaxed)) {
                return true;
            }
        }
        return false;
    }

    /// Gives back what `acquire` took in the same mode.
    void release(mode how) noexcept
    {
        const std::uint64_t share = share_of(how);
        std::uint64_t seen = word_.load(std::memory_order_acquire);
        do {
            if (must_pass_on(seen, share)) {
                return pass_on(share);
            }
        } while (!word_.compare_exchange_weak(seen, seen - share, std::memory_order_release,
                                              std::memory_order_acquire));
    }

  private:
    struct waiting;

    static constexpr std::uint64_t writer_bit = 1;
    static constexpr std::uint64_t queued_bit = 2;
    static constexpr std::uint64_t waking_bit = 4;
    static constexpr std::uint64_t one_reader = 8;
    static constexpr std::uint64_t holders = max_holders * one_reader | writer_bit;
    static constexpr int newest_shift = 22;
    static constexpr std::uint64_t newest_mask = ~std::uint64_t{0} << newest_shift;
    static constexpr std::uint64_t queue = newest_mask | queued_bit;

    static constexpr std::uint64_t share_of(mode how) noexcept { return how == mode::write ? writer_bit : one_reader; }

    /// Whether the lock is free, or a reader may join readers that nobody waits for.
    static constexpr bool may_take(std::uint64_t seen, mode how) noexcept
    {
        return (seen & holders) == 0 || (how == mode::read && (seen & (queue | writer_bit)) == 0);
    }

    /// Whether who gives back `share` is the last holder, some wait, and none of them is on its way already.
    static constexpr bool must_pass_on(std::uint64_t seen, std::uint64_t share) noexcept
    {
        return (seen & queue) != 0 && (seen & (holders | waking_bit)) == share;
    }

    void wait(mode how, waiter &place) noexcept;
    bool take_or_push(waiting &self) noexcept;
    void had_its_say(waiting &self) noexcept;
    void pass_on(std::uint64_t share) noexcept;
    void grant(std::uint64_t share) noexcept;
    void grant_readers(std::uint64_t share) noexcept;
    waiting *collect(std::uint64_t share) noexcept;
    static void wake(waiting *granted) noexcept;

    std::atomic<std::uint64_t> word_{0};
    waiting *first_ = nullptr;
};

/// Holds a lock from here to the end of the block.
class locked
{
  public:
    locked(lock &what, mode how, waiter &place) noexcept : lock_(what), mode_(how) { lock_.acquire(how, place); }
    ~locked() { lock_.release(mode_); }
    locked(const locked &) = delete;
    locked &operator=(const locked &) = delete;

  private:
    lock &lock_;
    mode mode_;
};

} // namespace flux
