/// \file
/// How often a constraint was taken, how often a flow had to wait for it, and how long: what one thread has counted.
///
/// Only the thread itself adds, so an addition is a load and a store; others may read at any time.
#pragma once

#include <atomic>
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

    constraint_totals &operator+=(const constraint_totals &other) noexcept
    {
        taken += other.taken;
        waited += other.waited;
        waited_ns += other.waited_ns;
        return *this;
    }
};

/// What one thread counts of a constraint.
class constraint_count
{
  public:
    /// It is taken once more.
    void take() noexcept { add(taken_, 1); }

    /// Once somebody waited so long for it.
    void wait(std::chrono::nanoseconds time) noexcept
    {
        add(waited_, 1);
        add(waited_ns_, static_cast<std::uint64_t>(time.count()));
    }

    /// What has been counted. Any thread may ask.
    constraint_totals totals() const noexcept
    {
        return {taken_.load(std::memory_order_relaxed), waited_.load(std::memory_order_relaxed),
                waited_ns_.load(std::memory_order_relaxed)};
    }

  private:
    static void add(std::atomic<std::uint64_t> &to, std::uint64_t more) noexcept
    {
        to.store(to.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
    }

    std::atomic<std::uint64_t> taken_{0};
    std::atomic<std::uint64_t> waited_{0};
    std::atomic<std::uint64_t> waited_ns_{0};
};

/// Counts the time from here to the end of the block as waited for a constraint.
class waiting_time
{
  public:
    explicit waiting_time(constraint_count &of) noexcept : count_(of), since_(clock::now()) {}
    ~waiting_time() { count_.wait(clock::now() - since_); }
    waiting_time(const waiting_time &) = delete;
    waiting_time &operator=(const waiting_time &) = delete;

  private:
    using clock = std::chrono::steady_clock;

    constraint_count &count_;
    clock::time_point since_;
};

} // namespace flux
