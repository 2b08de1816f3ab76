/// \file
/// How a test waits. No result of a test depends on the clock, so only the files of this folder pause or read one;
/// `crates/tidy` (`clocks.rs`) refuses it elsewhere.
///
/// A test waits for a condition, and only a hang reaches the limit. Real time has one use more: a lower bound. What a
/// busy machine delays takes longer, so a test may say that at least so much time has passed, and never that at most.
#pragma once

#include <flux/moment.hpp>
#include <flux/processor_use.hpp>
#include <flux/sleep.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <source_location>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

/// Only a hang takes so long.
inline constexpr std::chrono::seconds await_limit{60};

/// Sleeps in a call that the runtime does not catch: a node that does so holds its loop.
inline void sleep_uncaught(std::chrono::nanoseconds time)
{
    const timespec longest = flux::timespec_of(time);
    syscall(SYS_nanosleep, &longest, nullptr);
}

/// For loops that must not pause: ends the process in a hang, and says at which line that is.
class hang_limit
{
  public:
    explicit hang_limit(const std::source_location &at = std::source_location::current()) : at_(at) {}

    void check() const
    {
        if (flux::clock::now() > end_) {
            // Standard error may be captured.
            std::printf("%s:%u: what the test waits for did not happen in %lld s\n", at_.file_name(), at_.line(),
                        static_cast<long long>(await_limit.count()));
            std::fflush(stdout);
            std::abort();
        }
    }

  private:
    const std::source_location at_;
    const flux::moment end_ = flux::clock::now() + await_limit;
};

/// Returns when this is so. Ends the process where it does not come to be, and says at which line that was.
template <class Condition>
void await(Condition condition, const std::source_location &at = std::source_location::current())
{
    const hang_limit limit(at);
    while (!condition()) {
        limit.check();
        sleep_uncaught(std::chrono::milliseconds(1));
    }
}

/// The same for a flow that others of its loop have to go on for.
template <class Condition>
void await_parked(Condition condition, const std::source_location &at = std::source_location::current())
{
    const hang_limit limit(at);
    while (!condition()) {
        limit.check();
        flux::sleep_for(std::chrono::milliseconds(1));
    }
}

/// A deadline, counted from now.
inline flux::moment in(std::chrono::nanoseconds time)
{
    return flux::clock::now() + time;
}

/// The same, by the clock that calendars use.
inline std::chrono::system_clock::time_point in_by_calendar(std::chrono::nanoseconds time)
{
    return std::chrono::system_clock::now() + time;
}

/// Makes an order of events likelier: the others probably get so far meanwhile. The test passes in every other order,
/// too. Sleeps in a call that the runtime catches.
inline void dawdle(std::chrono::nanoseconds time)
{
    std::this_thread::sleep_for(time);
}

/// Has a processor, or is ready to have one, until then.
inline void spin_until(flux::moment end)
{
    while (flux::clock::now() < end) {
    }
}

/// The same for so long at least.
inline void spin(std::chrono::nanoseconds time)
{
    spin_until(in(time));
}

/// Uses a processor for so long. What interrupts it meanwhile does not count.
inline void compute(std::chrono::nanoseconds time)
{
    const std::chrono::nanoseconds end = flux::processor_use::time_of_thread() + time;
    while (flux::processor_use::time_of_thread() < end) {
    }
}

/// What has passed since this was made. It gives no time, and answers one question alone, for lower bounds.
class stopwatch
{
  public:
    bool has_passed(std::chrono::nanoseconds time) const { return flux::clock::now() - begin_ >= time; }

  private:
    const flux::moment begin_ = flux::clock::now();
};

/// Whether this moment has come.
inline bool has_come(flux::moment when)
{
    return flux::clock::now() >= when;
}

/// Whether it has its value. It does not wait.
template <class Future>
bool is_ready(const Future &of)
{
    return of.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}
