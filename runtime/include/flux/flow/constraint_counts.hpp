/// \file
/// How often a constraint was taken, how often and how long flows waited for it, and how long it was held, as counted
/// by one thread; of these how much was to read.
///
/// Only the thread itself adds (`tally.hpp`). Reading the clock costs more than taking a free lock. A flow that waits
/// reads it in any case; holds are timed only now and then, one in 61 on each thread, with or without a wait, so their
/// mean is an estimate of the mean of all. (61 is prime, so if a program takes a constraint at two or three places in
/// turn, all of them are timed.) In histograms each stands for those since the one before, so the first of each thread
/// stands for itself alone: it often is the longest, and there are as many of them as threads.
#pragma once

#include "flux/flow/constraint_times.hpp"
#include "flux/flow/tally.hpp"
#include "flux/moment.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace flux {

/// The number of a constraint in the table of constraints.
using constraint_number = std::uint32_t;

/// What is known of one constraint's acquisitions.
struct constraint_totals {
    /// How often it was taken; a keyed one once for each key.
    std::uint64_t taken = 0;
    /// How often a flow had to wait for it.
    std::uint64_t waited = 0;
    /// How long they waited together, in nanoseconds.
    std::uint64_t waited_ns = 0;
    /// How many holds were timed.
    std::uint64_t timed = 0;
    /// How long those were held together, in nanoseconds.
    std::uint64_t held_ns = 0;
    /// Of these, those that only read.
    std::uint64_t taken_to_read = 0;
    std::uint64_t waited_to_read = 0;
    std::uint64_t waited_ns_to_read = 0;

    constraint_totals &operator+=(const constraint_totals &other) noexcept
    {
        taken += other.taken;
        waited += other.waited;
        waited_ns += other.waited_ns;
        timed += other.timed;
        held_ns += other.held_ns;
        taken_to_read += other.taken_to_read;
        waited_to_read += other.waited_to_read;
        waited_ns_to_read += other.waited_ns_to_read;
        return *this;
    }
};

/// What one thread counts of a constraint.
class constraint_count
{
  public:
    /// Of so many holds one is timed, the first among them.
    static constexpr unsigned holds_for_each_timed = 61;

    /// Its times go there, too, which outlive it.
    void add_times_to(constraint_times &times) noexcept { times_ = &times; }

    /// It is taken once more, to read or to change; true where that hold is to be timed.
    bool take(bool reads) noexcept
    {
        taken_.add(1);
        if (reads) {
            taken_to_read_.add(1);
        }
        if (--untimed_ != 0) {
            return false;
        }
        untimed_ = holds_for_each_timed;
        return true;
    }

    /// Once somebody waited so long for it.
    void wait(std::chrono::nanoseconds time, bool reads) noexcept;

    /// A key of it was taken that has this hash.
    void take_key(std::uint64_t hash) noexcept
    {
        if (times_ != nullptr) {
            times_->took(hash);
        }
    }

    /// It was for this key that somebody waited.
    void wait_for_key(std::uint64_t key, shown_key shown) noexcept
    {
        if (times_ != nullptr) {
            times_->waited_for(key, shown);
        }
    }

    /// A hold that was timed took so long.
    void held(std::chrono::nanoseconds time, bool reads) noexcept;

    /// The time by which all that is timed: that of the I/O that runs here, so in a simulation one run is as the next.
    static moment now() noexcept;

    /// What has been counted. Any thread may ask, while the thread itself adds: of what is to read there is never more
    /// than of all.
    constraint_totals totals() const noexcept
    {
        constraint_totals of{taken_.value(), waited_.value(), waited_ns_.value(), timed_.value(), held_ns_.value()};
        of.taken_to_read = std::min(of.taken, taken_to_read_.value());
        of.waited_to_read = std::min(of.waited, waited_to_read_.value());
        of.waited_ns_to_read = std::min(of.waited_ns, waited_ns_to_read_.value());
        return of;
    }

  private:
    tally taken_;
    tally waited_;
    tally waited_ns_;
    tally timed_;
    tally held_ns_;
    tally taken_to_read_;
    tally waited_to_read_;
    tally waited_ns_to_read_;
    constraint_times *times_ = nullptr;
    unsigned untimed_ = 1;
};

/// Counts the time from here to the end of the block as waited for a constraint.
class waiting_time
{
  public:
    waiting_time(constraint_count &of, bool reads) noexcept
        : count_(of), reads_(reads), since_(constraint_count::now())
    {
    }
    ~waiting_time() { count_.wait(constraint_count::now() - since_, reads_); }
    waiting_time(const waiting_time &) = delete;
    waiting_time &operator=(const waiting_time &) = delete;

  private:
    constraint_count &count_;
    const bool reads_;
    const moment since_;
};

/// Times a hold, where it is one of those that are timed.
class holding_time
{
  public:
    /// Of nothing.
    holding_time() noexcept = default;

    /// From here on, for `of`; not at all where that is null.
    holding_time(constraint_count *of, bool reads) noexcept : count_(of), reads_(reads)
    {
        if (count_ != nullptr) {
            since_ = constraint_count::now();
        }
    }

    /// Counts the time until here.
    void end() const noexcept
    {
        if (count_ != nullptr) {
            count_->held(constraint_count::now() - since_, reads_);
        }
    }

  private:
    constraint_count *count_ = nullptr;
    bool reads_ = false;
    moment since_;
};

} // namespace flux
