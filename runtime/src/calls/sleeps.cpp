#include "flux/calls/sleeps.hpp"

#include "flux/calls/caught_call.hpp"
#include "flux/io.hpp"
#include "flux/sleep.hpp"

#include <algorithm>
#include <cerrno>
#include <sched.h>
#include <unistd.h>

namespace flux::calls {
namespace {

constexpr long second_ns = 1'000'000'000;

bool is_time(const timespec &time) noexcept
{
    return time.tv_sec >= 0 && time.tv_nsec >= 0 && time.tv_nsec < second_ns;
}

/// No more than a moment can be away.
clock::duration duration_of(const timespec &time) noexcept
{
    constexpr std::time_t longest = std::chrono::seconds(std::chrono::hours(24 * 365 * 100)).count();
    return std::chrono::seconds(std::min(time.tv_sec, longest)) + std::chrono::nanoseconds(time.tv_nsec);
}

// Until then: 0 or an error of errno.h.
int sleep_until_due(moment due) noexcept
{
    const int before = errno;
    const int error = flux::sleep_until(due);
    errno = before;
    return error;
}

/// As clock_nanosleep(2), for clocks that show the time of day or since the start.
int sleep_by_clock(clockid_t by, int flags, const timespec &time, timespec *remaining) noexcept
{
    if (!is_time(time)) {
        return EINVAL;
    }
    moment due = running_io().now() + duration_of(time);
    if ((flags & TIMER_ABSTIME) != 0) {
        timespec shown{};
        if (clock_gettime(by, &shown) != 0) {
            return errno;
        }
        due -= duration_of(shown);
    }
    const int error = sleep_until_due(due);
    if (error != 0 && remaining != nullptr && (flags & TIMER_ABSTIME) == 0) {
        *remaining = timespec_of(std::max(due - running_io().now(), clock::duration::zero()));
    }
    return error;
}

bool shows_time(clockid_t by) noexcept
{
    return by == CLOCK_REALTIME || by == CLOCK_MONOTONIC || by == CLOCK_BOOTTIME || by == CLOCK_TAI;
}

} // namespace

int sleep_for(const timespec &time, timespec *remaining) noexcept
{
    const int error = sleep_by_clock(CLOCK_MONOTONIC, 0, time, remaining);
    if (error != 0) {
        errno = error;
        return -1;
    }
    return 0;
}

} // namespace flux::calls

FLUX_CATCH(int, nanosleep, const timespec *time, timespec *remaining)
{
    return flux::calls::on_fiber() ? flux::calls::sleep_for(*time, remaining) : next_nanosleep(time, remaining);
}

FLUX_CATCH(int, clock_nanosleep, clockid_t by, int flags, const timespec *time, timespec *remaining)
{
    return flux::calls::on_fiber() && flux::calls::shows_time(by)
               ? flux::calls::sleep_by_clock(by, flags, *time, remaining)
               : next_clock_nanosleep(by, flags, time, remaining);
}

FLUX_CATCH(int, usleep, useconds_t time)
{
    constexpr useconds_t second_us = 1'000'000;
    return flux::calls::on_fiber()
               ? flux::calls::sleep_for({time / second_us, time % second_us * 1'000L}, nullptr)
               : next_usleep(time);
}

FLUX_CATCH(unsigned int, sleep, unsigned int seconds)
{
    if (!flux::calls::on_fiber()) {
        return next_sleep(seconds);
    }
    timespec remaining{};
    flux::calls::sleep_for({static_cast<std::time_t>(seconds), 0}, &remaining);
    return static_cast<unsigned int>(remaining.tv_sec + (remaining.tv_nsec > 0 ? 1 : 0));
}

// Who spins until another flow of this loop has done something would spin for ever.
FLUX_CATCH(int, sched_yield)
{
    return flux::calls::on_fiber() ? (flux::running_flow->place().give_way(), 0) : next_sched_yield();
}
