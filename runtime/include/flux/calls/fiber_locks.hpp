/// \file
/// Locks of the C library in code that runs on fibers: they are the fiber's, not its thread's. A fiber that finds one
/// taken parks, and its loop goes on; who lets go of it, be it a fiber or a thread, wakes the fiber (`wait_table.hpp`).
///
/// A lock stays the C library's: what is free is taken by its own function, and fibers and threads exclude each other.
/// Only the owner of locks that know it, such as recursive ones, is kept here in addition (`owned_locks.hpp`).
///
/// As under a thread for each flow, a wait for a lock ends when it is free or its own time has passed, and not because
/// the flow is cancelled or has no time left: code does not expect that, and would go on without the lock.
#pragma once

#include "flux/event/resident.hpp"
#include "flux/flow/flow.hpp"
#include "flux/moment.hpp"
#include "flux/waiting/sanitizer.hpp"
#include "flux/waiting/wait_table.hpp"

#include <cstddef>
#include <ctime>
#include <optional>
#include <pthread.h>

namespace flux::calls {

/// When the time of a clock has come, by the clock of loops; nothing where the system would not take it.
std::optional<moment> deadline_of(clockid_t by, const std::timespec *time) noexcept;

/// These fibers of whoever waits for what is at this address may go on: called after it was let go of.
FLUX_UNINSTRUMENTED inline void wake_fibers(const void *address, std::size_t most) noexcept
{
    if (waiting_fibers.any()) {
        waiting_fibers.wake(address, most);
    }
}

/// For a function that knows what is at an address only by trying: returns when `try_it()` says so, or at this time.
template <class Try>
bool wait_as_fiber(const void *address, moment deadline, Try try_it) noexcept
{
    if (try_it()) {
        return true;
    }
    running_flow->count_park();
    const time_away parked(running_flow->timing(), time_kind::parked);
    return waiting_fibers.acquire(address, resident::running()->place_of_calls(), deadline, try_it);
}

// As the functions of the C library, for a fiber.

int lock_as_fiber(pthread_mutex_t *lock, moment deadline) noexcept;
int try_lock_as_fiber(pthread_mutex_t *lock) noexcept;
int unlock_as_fiber(pthread_mutex_t *lock) noexcept;
int wait_for_signal_as_fiber(pthread_cond_t *signalled, pthread_mutex_t *lock, moment deadline) noexcept;

} // namespace flux::calls
