#include "flux/calls/futex_calls.hpp"

#include "flux/calls/fiber_locks.hpp"

#include "flux/calls/caught_call.hpp"
#include "flux/calls/closes.hpp"
#include "flux/event/handed_over.hpp"

#include <cerrno>
#include <cstdint>
#include <linux/futex.h>
#include <semaphore.h>
#include <sys/syscall.h>

namespace flux::calls {
namespace {

/// The arguments of futex(2).
struct futex_arguments {
    std::uint32_t *address;
    int operation;
    std::uint32_t value;
    const std::timespec *time;
};

// Also without FUTEX_PRIVATE_FLAG, as the C++ library waits so for atomics of its own process.
bool is_wait(int operation) noexcept
{
    const int command = operation & FUTEX_CMD_MASK;
    return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
}

bool is_wake(int operation) noexcept
{
    const int command = operation & FUTEX_CMD_MASK;
    return command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET;
}

// Of FUTEX_WAIT it is how long, of FUTEX_WAIT_BITSET it is until when.
std::optional<moment> end_of_wait(const futex_arguments &call) noexcept
{
    if (call.time == nullptr) {
        return never;
    }
    if ((call.operation & FUTEX_CMD_MASK) == FUTEX_WAIT) {
        return clock::now() + std::chrono::seconds(call.time->tv_sec) + std::chrono::nanoseconds(call.time->tv_nsec);
    }
    const bool by_calendar = (call.operation & FUTEX_CLOCK_REALTIME) != 0;
    return deadline_of(by_calendar ? CLOCK_REALTIME : CLOCK_MONOTONIC, call.time);
}

long futex_failed(int error) noexcept
{
    errno = error;
    return -1;
}

long wait_as_fiber(const futex_arguments &call) noexcept
{
    const auto deadline = end_of_wait(call);
    if (!deadline) {
        return futex_failed(EINVAL);
    }
    wait_table::entry own(call.address, resident::running()->place_of_calls());
    const auto is_unchanged = [&] { return __atomic_load_n(call.address, __ATOMIC_SEQ_CST) == call.value; };
    if (!waiting_fibers.begin(own, is_unchanged)) {
        return futex_failed(EAGAIN);
    }
    running_flow->count_park();
    const time_away parked(running_flow->timing(), time_kind::parked);
    return waiting_fibers.sleep(own, *deadline) ? 0 : futex_failed(ETIMEDOUT);
}

// The threads that were woken, and the fibers that may be woken besides.
long wake_others(const futex_arguments &call, long threads) noexcept
{
    const auto most = static_cast<long>(call.value);
    if (threads < 0 || threads >= most) {
        return threads;
    }
    return threads + static_cast<long>(waiting_fibers.wake(call.address, static_cast<std::size_t>(most - threads)));
}

} // namespace
} // namespace flux::calls

using namespace flux::calls;

// Its variable arguments are passed as these are, on every processor that Linux runs on with 64 bits.
FLUX_CATCH(long, syscall, long number, long first, long second, long third, long fourth, long fifth, long sixth)
{
    if (number == SYS_close) {
        return close_waking(static_cast<int>(first), [=]() FLUX_UNINSTRUMENTED {
            return static_cast<int>(next_syscall(number, first, second, third, fourth, fifth, sixth));
        });
    }
    if (number != SYS_futex) {
        return next_syscall(number, first, second, third, fourth, fifth, sixth);
    }
    const futex_arguments call{reinterpret_cast<std::uint32_t *>(first), static_cast<int>(second),
                               static_cast<std::uint32_t>(third), reinterpret_cast<const std::timespec *>(fourth)};
    if (is_wait(call.operation) && on_loop()) {
        return wait_as_fiber(call);
    }
    const long result = next_syscall(number, first, second, third, fourth, fifth, sixth);
    return is_wake(call.operation) && flux::waiting_fibers.any() ? wake_others(call, result) : result;
}

namespace {

// Whether several processes use it, so that the one that lets go of it may be another. The C library keeps this behind
// the value (sysdeps/nptl/internaltypes.h, `new_sem`); the layout stays, as processes share it.
bool is_shared(const sem_t *semaphore) noexcept
{
    return reinterpret_cast<const int *>(semaphore)[2] != 0;
}

int take_as_fiber(sem_t *semaphore, flux::moment deadline) noexcept
{
    bool failed = false;
    const auto try_it = [&] {
        failed = sem_trywait(semaphore) != 0;
        return !failed || errno != EAGAIN;
    };
    if (!wait_as_fiber(semaphore, deadline, try_it)) {
        errno = ETIMEDOUT;
        return -1;
    }
    return failed ? -1 : 0;
}

template <class Wait>
int take_as_fiber(sem_t *semaphore, clockid_t by, const std::timespec *time, Wait wait_as_thread) noexcept
{
    if (sem_trywait(semaphore) == 0) {
        return 0;
    }
    if (errno != EAGAIN) {
        return -1;
    }
    if (is_shared(semaphore)) {
        return flux::handed_over_interruptible(*flux::resident::running(), wait_as_thread);
    }
    const auto deadline = time == nullptr ? std::optional(flux::never) : flux::calls::deadline_of(by, time);
    if (!deadline) {
        errno = EINVAL;
        return -1;
    }
    return take_as_fiber(semaphore, *deadline);
}

} // namespace

FLUX_CATCH(int, sem_wait, sem_t *semaphore)
{
    return on_loop() ? take_as_fiber(semaphore, CLOCK_REALTIME, nullptr, [=] { return next_sem_wait(semaphore); })
                      : next_sem_wait(semaphore);
}

FLUX_CATCH(int, sem_timedwait, sem_t *semaphore, const std::timespec *time)
{
    return on_loop() ? take_as_fiber(semaphore, CLOCK_REALTIME, time,
                                      [=] { return next_sem_timedwait(semaphore, time); })
                      : next_sem_timedwait(semaphore, time);
}

FLUX_CATCH(int, sem_clockwait, sem_t *semaphore, clockid_t by, const std::timespec *time)
{
    return on_loop() ? take_as_fiber(semaphore, by, time, [=] { return next_sem_clockwait(semaphore, by, time); })
                      : next_sem_clockwait(semaphore, by, time);
}

FLUX_CATCH(int, sem_post, sem_t *semaphore)
{
    const int result = next_sem_post(semaphore);
    wake_fibers(semaphore, 1);
    return result;
}

// The kernel says that a thread has ended to whoever waits there, so a thread does.
FLUX_CATCH(int, pthread_join, pthread_t thread, void **result)
{
    if (!on_loop()) {
        return next_pthread_join(thread, result);
    }
    const int error = pthread_tryjoin_np(thread, result);
    return error != EBUSY ? error
                          : flux::handed_over(*flux::resident::running(), flux::lasting::waits_for_others,
                                              [=] { return next_pthread_join(thread, result); });
}

FLUX_CATCH(int, pthread_timedjoin_np, pthread_t thread, void **result, const std::timespec *time)
{
    return on_loop() ? flux::handed_over(*flux::resident::running(), flux::lasting::waits_for_others,
                                          [=] { return next_pthread_timedjoin_np(thread, result, time); })
                      : next_pthread_timedjoin_np(thread, result, time);
}
