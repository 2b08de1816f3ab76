/// \file
/// Who waits at which address: fibers that wait for a lock of the C library, which knows threads alone.
///
/// The lock itself stays where it is and as it is. Who finds it taken enters itself here, looks once more, and sleeps;
/// who lets go of it does so first, and then looks here. In this order one of the two sees the other. It is what a
/// kernel does for futexes, as WebKit does it without one (F. Pizlo, "Locking in WebKit", 2016).
///
/// Nobody is handed a lock: who was woken tries again, and others may have been faster. So a wake is never lost: either
/// the woken one has the lock and lets go of it later, or whoever was faster does, and wakes the next.
///
/// What it is made of is a parameter, so that a test can go through every order in which its steps can happen
/// (`test/waiting/wait_table_test.cpp`).
#pragma once

#include "flux/list/intrusive_list.hpp"
#include "flux/moment.hpp"
#include "flux/waiting/sanitizer.hpp"
#include "flux/waiting/spin_lock.hpp"
#include "flux/waiting/waiter.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace flux {

/// What the table is made of: places to wait, a count that all see change in one order, and a lock for a few
/// instructions.
struct wait_parts {
    using place = waiter;
    using lock = spin_lock;

    /// Read where sanitizers may not have begun yet.
    class count
    {
      public:
        explicit constexpr count(std::size_t first) noexcept : value_(first) {}
        FLUX_UNINSTRUMENTED std::size_t load() const noexcept { return __atomic_load_n(&value_, __ATOMIC_SEQ_CST); }
        void fetch_add(std::size_t more) noexcept { __atomic_fetch_add(&value_, more, __ATOMIC_SEQ_CST); }
        void fetch_sub(std::size_t less) noexcept { __atomic_fetch_sub(&value_, less, __ATOMIC_SEQ_CST); }

      private:
        std::size_t value_;
    };
};

/// The table. Any thread calls it.
template <class Parts>
class basic_wait_table
{
  public:
    using place = typename Parts::place;

    /// One that waits, on its own stack.
    class entry : public listed<entry>
    {
      public:
        /// It will wait for what is at this address, at this place.
        entry(const void *address, place &at) noexcept : address_(address), place_(at) {}

      private:
        friend class basic_wait_table;

        const void *const address_;
        place &place_;
        bool is_listed_ = false;
    };

    /// Whether somebody waits anywhere. Who asks has changed before what others wait for, by an operation that is a
    /// barrier.
    FLUX_UNINSTRUMENTED bool any() const noexcept { return listed_.load() != 0; }

    /// Enters this one; then, if `must_wait()`, it sleeps next, which this gives. Else it is in the table no more.
    template <class Check>
    bool begin(entry &own, Check must_wait) noexcept
    {
        bucket &in = bucket_of(own.address_);
        const std::lock_guard alone(in.lock);
        in.entries.push_back(own);
        own.is_listed_ = true;
        listed_.fetch_add(1);
        if (must_wait()) {
            return true;
        }
        remove(in, own);
        return false;
    }

    /// It has begun: returns when it was woken, which gives true, or at this time.
    bool sleep(entry &own, moment deadline = never) noexcept
    {
        if (own.place_.wait_until(deadline)) {
            return true;
        }
        if (take_out(own)) {
            return false;
        }
        own.place_.wait(); // who has taken it out wakes it
        return true;
    }

    /// It has begun, and does not sleep after all.
    void leave(entry &own) noexcept
    {
        if (!take_out(own)) {
            own.place_.wait();
        }
    }

    /// Tries until `try_it()` says that it has it, which gives true, or until this time. Sleeps in between.
    template <class Try>
    bool acquire(const void *address, place &at, moment deadline, Try try_it) noexcept
    {
        while (true) {
            entry own(address, at);
            if (!begin(own, [&] { return !try_it(); })) {
                return true;
            }
            if (!sleep(own, deadline)) {
                return try_it();
            }
        }
    }

    /// Wakes those that have waited longest at this address, at most so many: how many there were.
    std::size_t wake(const void *address, std::size_t most) noexcept
    {
        if (!any()) {
            return 0;
        }
        intrusive_list<entry> taken;
        std::size_t count = 0;
        {
            bucket &in = bucket_of(address);
            const std::lock_guard alone(in.lock);
            for (entry *each = in.entries.first(); each != nullptr && count < most;) {
                entry &candidate = *each;
                each = intrusive_list<entry>::next(candidate);
                if (candidate.address_ == address) {
                    remove(in, candidate);
                    taken.push_back(candidate);
                    ++count;
                }
            }
        }
        // It is gone as soon as it is woken.
        while (entry *const woken = taken.pop_front()) {
            woken->place_.wake();
        }
        return count;
    }

  private:
    struct alignas(64) bucket {
        typename Parts::lock lock;
        intrusive_list<entry> entries;
    };

    static constexpr unsigned bucket_bits = 8;

    bucket &bucket_of(const void *address) noexcept
    {
        // Knuth, The Art of Computer Programming 3, 6.4: multiplicative hashing by the golden ratio.
        const std::uint64_t spread = reinterpret_cast<std::uintptr_t>(address) * 0x9E37'79B9'7F4A'7C15U;
        return buckets_[spread >> (64 - bucket_bits)];
    }

    // Whether nobody else has.
    bool take_out(entry &own) noexcept
    {
        bucket &in = bucket_of(own.address_);
        const std::lock_guard alone(in.lock);
        const bool was_listed = own.is_listed_;
        if (was_listed) {
            remove(in, own);
        }
        return was_listed;
    }

    void remove(bucket &in, entry &own) noexcept
    {
        in.entries.remove(own);
        own.is_listed_ = false;
        listed_.fetch_sub(1);
    }

    typename Parts::count listed_{0};
    std::array<bucket, std::size_t{1} << bucket_bits> buckets_{};
};

/// That of fibers.
using wait_table = basic_wait_table<wait_parts>;

/// The process's, as a lock may be between its servers.
inline constinit wait_table waiting_fibers;

} // namespace flux
