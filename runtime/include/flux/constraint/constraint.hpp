/// \file
/// Atomicity constraints at run time: the locks that generated code takes around a node, in the one order that the
/// compiler has fixed, and gives back in reverse whatever way the node ends.
///
/// A constraint is shared by all flows of the program, by those of one session, or by those with equal keys. Of a keyed
/// constraint a step may take several keys: they are taken in the order of their numbers, and equal ones once, in the
/// stronger mode. Keys of one constraint are never taken while others of it are held; the compiler sees to that.
///
/// Each acquisition is counted in memory of its thread's own (`constraint_counts.hpp`); a clock is read only where a
/// flow has to wait anyway, and to time a hold now and then.
#pragma once

#include "flux/flow/constraint_counts.hpp"
#include "flux/flow/flow.hpp"
#include "flux/constraint/key_table.hpp"
#include "flux/constraint/lock.hpp"

#include <array>
#include <cstddef>
#include <utility>

namespace flux {

/// The lock of a constraint that all flows of the program share, on a cache line of its own.
class alignas(64) program_lock
{
  public:
    /// The constraint's number in the program's tables.
    explicit constexpr program_lock(constraint_number number) noexcept : number_(number) {}

  private:
    friend class hold;

    constraint_number number_;
    lock lock_;
};

/// The locks of a keyed constraint.
class keyed_lock
{
  public:
    /// The constraint's number in the program's tables.
    explicit constexpr keyed_lock(constraint_number number) noexcept : number_(number) {}

  private:
    template <std::size_t>
    friend class hold_keys;

    constraint_number number_;
    key_table table_;
};

/// The locks of a constraint that the flows of one session share: keyed by the session.
class session_lock
{
  public:
    /// The constraint's number in the program's tables.
    explicit constexpr session_lock(constraint_number number) noexcept : keyed_(number) {}

  private:
    friend class hold_session;

    keyed_lock keyed_;
};

/// A key to hold, and how. Its value is where it was said until it is held.
struct wanted_key {
    key_number number = 0;
    mode how = mode::read;
    shown_key shown;
};

/// The key made of these values, to hold in this mode.
template <class... Parts>
wanted_key key(mode how, const Parts &...parts) noexcept
{
    return {key_of(parts...), how, shown_as(parts...)};
}

/// Takes a lock that is not free for a flow, waiting as the flow, which is notified when it is released; counts the
/// wait. `key` is null where the lock is that of the whole constraint.
void wait_for(lock &what, mode how, flow &by, constraint_count &count, const wanted_key *key) noexcept;

/// Takes the lock of a key for a flow, waiting as the flow; gives where it is.
key_table::entry &take_lock(key_table &of, key_number scattered, flow &by, constraint_count &count,
                            const wanted_key &key) noexcept;

/// Gives back a key that is held by the word of its chain, which has come to have locks meanwhile.
void release_lock(key_table &of, key_number scattered, mode how, flow &by) noexcept;

/// Holds a constraint for a flow from here to the end of the block.
class hold
{
  public:
    /// Waits, as the flow, until it holds `what`; counts the acquisition.
    hold(flow &by, program_lock &what, mode how) noexcept : by_(by), lock_(what.lock_), mode_(how)
    {
        constraint_count &count = by.acquiring(what.number_);
        const bool timed = count.take(how == mode::read);
        if (!lock_.try_acquire(how)) [[unlikely]] {
            wait_for(lock_, how, by, count, nullptr);
        }
        by.hold_one();
        if (timed) [[unlikely]] {
            time_.begin(count, how == mode::read);
        }
    }
    ~hold()
    {
        by_.timing().lets_go();
        lock_.release(mode_);
        time_.end();
        by_.release_one();
    }
    hold(const hold &) = delete;
    hold &operator=(const hold &) = delete;

  private:
    flow &by_;
    lock &lock_;
    mode mode_;
    holding_time time_;
};

/// Holds keys of one constraint for a flow from here to the end of the block.
template <std::size_t count>
class hold_keys
{
  public:
    /// Waits, as the flow, until it holds all of them; counts each acquisition.
    template <class... Keys>
    hold_keys(flow &by, keyed_lock &what, const Keys &...keys) noexcept : by_(by), table_(what.table_)
    {
        if constexpr (count == 1) {
            (hold_one(what, keys), ...);
        } else {
            std::array<wanted_key, count> wanted{keys...};
            for (std::size_t end = 1; end < count; ++end) {
                for (std::size_t at = end; at != 0 && comes_before(wanted[at], wanted[at - 1]); --at) {
                    std::swap(wanted[at], wanted[at - 1]);
                }
            }
            for (const wanted_key &each : wanted) {
                if (size_ == 0 || held_[size_ - 1].number != each.number) {
                    hold_one(what, each);
                }
            }
        }
    }

    ~hold_keys()
    {
        by_.timing().lets_go();
        while (size_ != 0) {
            const one_held &last = held_[--size_];
            if (last.entry != nullptr) [[unlikely]] {
                key_table::lock_of(*last.entry).release(last.how);
                table_.forget(*last.entry, by_.place());
            } else if (!table_.try_release(last.scattered, last.how)) [[unlikely]] {
                release_lock(table_, last.scattered, last.how, by_);
            }
            last.time.end();
            by_.release_one();
        }
    }

    hold_keys(const hold_keys &) = delete;
    hold_keys &operator=(const hold_keys &) = delete;

  private:
    // The stronger mode first where keys are equal, so that the first of them stands for all.
    static bool comes_before(const wanted_key &left, const wanted_key &right) noexcept
    {
        return left.number != right.number ? left.number < right.number : left.how > right.how;
    }

    void hold_one(keyed_lock &what, const wanted_key &key) noexcept
    {
        const key_number scattered = scatter(key.number);
        constraint_count &counts = by_.acquiring(what.number_);
        const bool timed = counts.take(key.how == mode::read);
        counts.take_key(scattered);
        one_held &now = held_[size_++];
        now.number = key.number;
        now.scattered = scattered;
        now.how = key.how;
        if (!table_.try_hold(scattered, key.how)) [[unlikely]] {
            now.entry = &take_lock(table_, scattered, by_, counts, key);
        }
        by_.hold_one();
        if (timed) [[unlikely]] {
            now.time.begin(counts, key.how == mode::read);
        }
    }

    struct one_held {
        key_number number = 0;
        key_number scattered = 0;
        mode how = mode::read;
        // Null where it is held by the word of its chain.
        key_table::entry *entry = nullptr;
        holding_time time;
    };

    flow &by_;
    key_table &table_;
    std::array<one_held, count> held_;
    std::size_t size_ = 0;
};

template <class... Keys>
hold_keys(flow &, keyed_lock &, const Keys &...) -> hold_keys<sizeof...(Keys)>;

/// Holds a constraint for the flow's session from here to the end of the block.
class hold_session
{
  public:
    /// Waits, as the flow, until it holds `what` for its session; counts the acquisition.
    hold_session(flow &by, session_lock &what, mode how) noexcept : held_(by, what.keyed_, key(how, by.session())) {}

  private:
    hold_keys<1> held_;
};

} // namespace flux
