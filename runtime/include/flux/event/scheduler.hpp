/// \file
/// The order of an event loop: whose turn it is next. It knows neither fibers nor the kernel, nor who waits: what can
/// run is in classes, each first in first out, and here it is decided which class is next.
///
/// `docs/deadlock.md` rests on this: what can run, runs at some time, whatever comes meanwhile. So every class that can
/// run has its turn within `longest_wait` turns. What was woken has every second turn, as others wait for it most
/// often: it may hold a constraint. The other classes have theirs round robin, a class that cannot run being passed.
///
/// What gave way is a class of its own. It can run when those have started that waited then: each keeps a `ticket`.
#pragma once

#include <cstdint>

namespace flux {

/// What can run on a loop.
enum class work : unsigned char {
    /// Flows and branches that waited and wait no more.
    woken,
    /// Branches of flows that have begun.
    branch,
    /// Flows that this loop's own sources have made.
    made,
    /// Flows that others have started here.
    started,
    /// Flows that gave way to others.
    gave_way,
    /// Stands for: none of these.
    nothing,
};

/// Some of the classes.
class work_set
{
  public:
    constexpr work_set() noexcept = default;

    /// Adds the class where that is so.
    constexpr work_set &add(work each, bool is_so = true) noexcept
    {
        bits_ |= is_so ? bit(each) : 0;
        return *this;
    }

    constexpr bool has(work each) const noexcept { return (bits_ & bit(each)) != 0; }
    constexpr bool empty() const noexcept { return bits_ == 0; }

  private:
    static constexpr unsigned bit(work each) noexcept { return 1U << static_cast<unsigned>(each); }

    unsigned bits_ = 0;
};

/// Decides which class is next.
class scheduler
{
  public:
    /// Within so many turns a class has its own, if it can run at each of them.
    static constexpr unsigned longest_wait = 8;

    /// The class whose turn it is, out of those that can run; `nothing` where none can.
    constexpr work next(work_set can_run) noexcept
    {
        turn_of_woken_ = !turn_of_woken_;
        if (turn_of_woken_ && can_run.has(work::woken)) {
            return work::woken;
        }
        for (unsigned passed = 0; passed < other_classes; ++passed) {
            last_ = static_cast<work>(static_cast<unsigned>(last_) % other_classes + 1);
            if (can_run.has(last_)) {
                return last_;
            }
        }
        return can_run.has(work::woken) ? work::woken : work::nothing;
    }

    constexpr bool operator==(const scheduler &other) const noexcept = default;

  private:
    // All but what was woken, from `branch` on.
    static constexpr unsigned other_classes = 4;

    bool turn_of_woken_ = false;
    work last_ = work::gave_way;
};

/// How many were ever put into a queue, and how many taken out.
struct queue_counts {
    std::uint64_t pushed = 0;
    std::uint64_t taken = 0;
};

/// For who gives way: it is due when those have started that wait now.
class ticket
{
  public:
    constexpr ticket() noexcept = default;
    constexpr ticket(queue_counts started, queue_counts made) noexcept : started_(started.pushed), made_(made.pushed) {}

    constexpr bool is_due(queue_counts started, queue_counts made) const noexcept
    {
        return started.taken >= started_ && made.taken >= made_;
    }

  private:
    std::uint64_t started_ = 0;
    std::uint64_t made_ = 0;
};

} // namespace flux
