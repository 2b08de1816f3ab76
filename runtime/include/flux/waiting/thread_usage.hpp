/// \file
/// What a thread does with its time, as the kernel counts it: it computes, it waits for a processor that others have,
/// or it sleeps in a system call. On a busy machine a thread may stand still for long without doing anything wrong;
/// this tells such a one from one that makes others wait.
///
/// To ask costs a reading of another thread's clock and of two small files of `/proc` (proc(5): `stat` for the state;
/// the kernel's Documentation/scheduler/sched-stats.rst: `schedstat` for the time in the queue), about 20 µs together.
#pragma once

#include "flux/moment.hpp"

#include <chrono>
#include <ctime>
#include <sys/types.h>

namespace flux {

/// So far.
struct thread_usage {
    /// How long it has had a processor.
    std::chrono::nanoseconds computed{0};
    /// How long it could have run, and had none. What it waits just now is counted when it is over.
    std::chrono::nanoseconds queued{0};
    /// Whether it sleeps now, and so waits for no processor.
    bool asleep = false;
};

/// A thread, for others to look at while it lives.
class watched_thread
{
  public:
    /// None.
    watched_thread() noexcept = default;

    /// The calling thread.
    static watched_thread calling() noexcept;

    /// What it has done. What the kernel does not tell is zero.
    thread_usage usage() const noexcept;

  private:
    pid_t number_ = 0;
    clockid_t clock_ = 0;
};

/// How a thread spent the time between looks, as far as it was its own to spend: that it computed, and that it slept.
class own_time
{
  public:
    /// The first look. `at` is no earlier than when the thread was looked at.
    void begin(const thread_usage &seen, moment at) noexcept
    {
        last_ = seen;
        last_at_ = at;
        computed_ = slept_ = std::chrono::nanoseconds(0);
    }

    /// The next one. `at` is no later than when the thread was looked at: so what it may have been kept waiting in
    /// between is not taken for its own.
    void add(const thread_usage &seen, moment at) noexcept;

    std::chrono::nanoseconds computed() const noexcept { return computed_; }
    /// At least: known only up to a look that finds it asleep.
    std::chrono::nanoseconds slept() const noexcept { return slept_; }

  private:
    thread_usage last_;
    moment last_at_;
    std::chrono::nanoseconds computed_{0};
    std::chrono::nanoseconds slept_{0};
};

} // namespace flux
