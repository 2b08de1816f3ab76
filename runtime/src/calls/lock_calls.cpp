#include "flux/calls/lock_calls.hpp"

#include "flux/calls/fiber_locks.hpp"

#include "flux/calls/caught_call.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <unistd.h>

namespace flux::calls {
namespace {

constexpr std::size_t everybody = ~std::size_t{0};

// The kinds that know their owner; see `pthread_mutex_t` in the C library's <bits/struct_mutex.h>.
constexpr int kind_bits = 3;

FLUX_UNINSTRUMENTED inline bool knows_owner(const pthread_mutex_t *lock) noexcept
{
    const int kind = __atomic_load_n(&lock->__data.__kind, __ATOMIC_RELAXED) & kind_bits;
    return kind == PTHREAD_MUTEX_RECURSIVE || kind == PTHREAD_MUTEX_ERRORCHECK;
}

// Whether its owner is the fiber, where there is one, and not the thread.
FLUX_UNINSTRUMENTED inline bool is_fibers_own(const pthread_mutex_t *lock) noexcept
{
    return fiber::running() != nullptr && knows_owner(lock);
}

// A thread's own number never changes, and asking the kernel costs more than a free lock.
bool is_of_this_thread(const pthread_mutex_t *lock) noexcept
{
    static thread_local const pid_t own = gettid();
    return __atomic_load_n(&lock->__data.__owner, __ATOMIC_RELAXED) == own;
}

} // namespace

std::optional<moment> deadline_of(clockid_t by, const std::timespec *time) noexcept
{
    constexpr std::int64_t second = 1'000'000'000;
    if (time->tv_nsec < 0 || time->tv_nsec >= second) {
        return std::nullopt;
    }
    const auto since_epoch = [](const std::timespec &of) {
        return std::chrono::seconds(of.tv_sec) + std::chrono::nanoseconds(of.tv_nsec);
    };
    constexpr std::time_t longest = 1'000'000'000; // thirty years, which no server waits
    std::timespec now;
    if (clock_gettime(by, &now) != 0) {
        return std::nullopt;
    }
    if (time->tv_sec - now.tv_sec > longest) {
        return never;
    }
    return time->tv_sec < now.tv_sec ? moment::min() : clock::now() + (since_epoch(*time) - since_epoch(now));
}

} // namespace flux::calls

using namespace flux::calls;

FLUX_CATCH(int, pthread_mutex_trylock, pthread_mutex_t *lock)
{
    return is_fibers_own(lock) && on_loop() ? try_lock_as_fiber(lock) : next_pthread_mutex_trylock(lock);
}

FLUX_CATCH(int, pthread_mutex_lock, pthread_mutex_t *lock)
{
    // The runtime and most nodes take locks that are free, and of the simple kind.
    if (flux::fiber::running() != nullptr && !knows_owner(lock)) {
        if (const int error = next_pthread_mutex_trylock(lock); error != EBUSY) {
            return error;
        }
    }
    return on_loop() ? lock_as_fiber(lock, flux::never) : next_pthread_mutex_lock(lock);
}

FLUX_CATCH(int, pthread_mutex_unlock, pthread_mutex_t *lock)
{
    if (is_fibers_own(lock) && on_loop()) {
        return unlock_as_fiber(lock);
    }
    const int error = next_pthread_mutex_unlock(lock);
    wake_fibers(lock, 1);
    return error;
}

namespace flux::calls {

int try_lock_as_fiber(pthread_mutex_t *lock) noexcept
{
    if (!knows_owner(lock)) {
        return next_pthread_mutex_trylock(lock);
    }
    owned_locks &own = resident::running()->locks();
    if (is_of_this_thread(lock)) {
        // Another fiber's, or taken again.
        return own.has(lock) ? next_pthread_mutex_trylock(lock) : EBUSY;
    }
    if (!own.make_room()) {
        return EAGAIN;
    }
    const int error = next_pthread_mutex_trylock(lock);
    if (error == 0 || error == EOWNERDEAD) {
        own.add(lock);
    }
    return error;
}

int lock_as_fiber(pthread_mutex_t *lock, moment deadline) noexcept
{
    if (knows_owner(lock) && is_of_this_thread(lock) && resident::running()->locks().has(lock)) {
        return next_pthread_mutex_lock(lock); // counts, or fails
    }
    int error = EBUSY;
    const auto try_it = [&] {
        error = try_lock_as_fiber(lock);
        return error != EBUSY;
    };
    return wait_as_fiber(lock, deadline, try_it) ? error : ETIMEDOUT;
}

int unlock_as_fiber(pthread_mutex_t *lock) noexcept
{
    int error = 0;
    if (!knows_owner(lock)) {
        error = next_pthread_mutex_unlock(lock);
    } else {
        owned_locks &own = resident::running()->locks();
        if (!own.has(lock)) {
            return EPERM;
        }
        error = next_pthread_mutex_unlock(lock);
        if (error == 0 && !is_of_this_thread(lock)) {
            own.remove(lock);
        }
    }
    wake_fibers(lock, 1);
    return error;
}

int wait_for_signal_as_fiber(pthread_cond_t *signalled, pthread_mutex_t *lock, moment deadline) noexcept
{
    wait_table::entry own(signalled, resident::running()->place_of_calls());
    // Before the lock is free: whoever has it next and signals finds this fiber.
    int error = 0;
    const auto let_go = [&] {
        error = unlock_as_fiber(lock);
        return error == 0;
    };
    waiting_fibers.begin(own, [] { return true; });
    if (!let_go()) {
        waiting_fibers.leave(own);
        return error;
    }
    running_flow->count_park();
    bool was_signalled = false;
    {
        const time_away parked(running_flow->timing(), park_reason::lock);
        was_signalled = waiting_fibers.sleep(own, deadline);
    }
    error = lock_as_fiber(lock, never);
    return error != 0 ? error : was_signalled ? 0 : ETIMEDOUT;
}

} // namespace flux::calls

namespace {

int lock_as_fiber_until(pthread_mutex_t *lock, clockid_t by, const std::timespec *time) noexcept
{
    if (const int error = try_lock_as_fiber(lock); error != EBUSY) {
        return error;
    }
    const auto deadline = deadline_of(by, time);
    return deadline ? lock_as_fiber(lock, *deadline) : EINVAL;
}

int wait_for_signal_as_fiber_until(pthread_cond_t *signalled, pthread_mutex_t *lock, clockid_t by,
                                   const std::timespec *time) noexcept
{
    const auto deadline = deadline_of(by, time);
    return deadline ? wait_for_signal_as_fiber(signalled, lock, *deadline) : EINVAL;
}

// What a condition was made with are bits of it (nptl/pthreadP.h, __COND_SHARED_MASK, __COND_CLOCK_MONOTONIC_MASK).
FLUX_UNINSTRUMENTED inline bool is_made_with(unsigned bit, const pthread_cond_t *signalled) noexcept
{
    return (__atomic_load_n(&signalled->__data.__wrefs, __ATOMIC_RELAXED) & bit) != 0;
}

FLUX_UNINSTRUMENTED inline bool is_shared(const pthread_cond_t *signalled) noexcept
{
    return is_made_with(1, signalled);
}

clockid_t clock_of(const pthread_cond_t *signalled) noexcept
{
    return is_made_with(2, signalled) ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

// A thread that waits for a signal lets go of its lock where fibers see it. The C library does so inside of its wait,
// and a fiber that had just found the lock taken would wait for ever. So the thread unlocks it as everybody does, and
// waits with the lock of a gate in its place. Who signals passes the gate first: whoever has let go of its lock, as the
// one who signals must have seen, waits by then.
//
// Many conditions share a gate. Whoever holds one takes no other lock but the short ones of those who wake.
struct alignas(64) gate {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
};

constinit std::array<gate, 64> gates{};

FLUX_UNINSTRUMENTED inline pthread_mutex_t *gate_of(const pthread_cond_t *signalled) noexcept
{
    return &gates[reinterpret_cast<std::uintptr_t>(signalled) / sizeof *signalled % gates.size()].lock;
}

FLUX_UNINSTRUMENTED inline void pass_gate(const pthread_cond_t *signalled) noexcept
{
    if (!is_shared(signalled)) {
        next_pthread_mutex_lock(gate_of(signalled));
        next_pthread_mutex_unlock(gate_of(signalled));
    }
}

// Leaves the gate, and takes the lock again: also where the thread is cancelled, as what cleans up then expects it.
class behind_gate
{
  public:
    FLUX_UNINSTRUMENTED behind_gate(pthread_mutex_t *gate, pthread_mutex_t *lock, int &error) noexcept
        : gate_(gate), lock_(lock), error_(error)
    {
    }
    behind_gate(const behind_gate &) = delete;
    behind_gate &operator=(const behind_gate &) = delete;
    FLUX_UNINSTRUMENTED ~behind_gate()
    {
        next_pthread_mutex_unlock(gate_);
        error_ = next_pthread_mutex_lock(lock_);
    }

  private:
    pthread_mutex_t *const gate_;
    pthread_mutex_t *const lock_;
    int &error_;
};

// `wait_with(lock)` is the C library's.
template <class Wait>
FLUX_UNINSTRUMENTED int wait_for_signal_as_thread(const pthread_cond_t *signalled, pthread_mutex_t *lock,
                                                  Wait wait_with)
{
    if (is_shared(signalled)) {
        return wait_with(lock); // other processes know no gate of this one
    }
    pthread_mutex_t *const gate = gate_of(signalled);
    next_pthread_mutex_lock(gate);
    if (const int error = pthread_mutex_unlock(lock); error != 0) {
        next_pthread_mutex_unlock(gate);
        return error;
    }
    int result = 0;
    int relocked = 0;
    {
        const behind_gate until_signalled(gate, lock, relocked);
        result = wait_with(gate);
    }
    return relocked != 0 ? relocked : result;
}

} // namespace

FLUX_CATCH(int, pthread_mutex_timedlock, pthread_mutex_t *lock, const std::timespec *time)
{
    return on_loop() ? lock_as_fiber_until(lock, CLOCK_REALTIME, time) : next_pthread_mutex_timedlock(lock, time);
}

FLUX_CATCH(int, pthread_mutex_clocklock, pthread_mutex_t *lock, clockid_t by, const std::timespec *time)
{
    return on_loop() ? lock_as_fiber_until(lock, by, time) : next_pthread_mutex_clocklock(lock, by, time);
}

FLUX_CATCH(int, pthread_cond_wait, pthread_cond_t *signalled, pthread_mutex_t *lock)
{
    return on_loop() ? wait_for_signal_as_fiber(signalled, lock, flux::never)
                      : wait_for_signal_as_thread(signalled, lock, [=](pthread_mutex_t *held) FLUX_UNINSTRUMENTED {
                            return next_pthread_cond_wait(signalled, held);
                        });
}

FLUX_CATCH(int, pthread_cond_timedwait, pthread_cond_t *signalled, pthread_mutex_t *lock, const std::timespec *time)
{
    return on_loop() ? wait_for_signal_as_fiber_until(signalled, lock, clock_of(signalled), time)
                      : wait_for_signal_as_thread(signalled, lock, [=](pthread_mutex_t *held) FLUX_UNINSTRUMENTED {
                            return next_pthread_cond_timedwait(signalled, held, time);
                        });
}

FLUX_CATCH(int, pthread_cond_clockwait, pthread_cond_t *signalled, pthread_mutex_t *lock, clockid_t by,
           const std::timespec *time)
{
    return on_loop() ? wait_for_signal_as_fiber_until(signalled, lock, by, time)
                      : wait_for_signal_as_thread(signalled, lock, [=](pthread_mutex_t *held) FLUX_UNINSTRUMENTED {
                            return next_pthread_cond_clockwait(signalled, held, by, time);
                        });
}

// A thread and a fiber may both be woken: that a wait may end without a signal is in its contract.
FLUX_CATCH(int, pthread_cond_signal, pthread_cond_t *signalled)
{
    pass_gate(signalled);
    const int error = next_pthread_cond_signal(signalled);
    wake_fibers(signalled, 1);
    return error;
}

FLUX_CATCH(int, pthread_cond_broadcast, pthread_cond_t *signalled)
{
    pass_gate(signalled);
    const int error = next_pthread_cond_broadcast(signalled);
    wake_fibers(signalled, everybody);
    return error;
}

namespace {

using lock_function = int(pthread_rwlock_t *);

int lock_shared_as_fiber(lock_function *try_lock, pthread_rwlock_t *lock, flux::moment deadline) noexcept
{
    int error = EBUSY;
    const auto try_it = [&] {
        error = try_lock(lock);
        return error != EBUSY;
    };
    return wait_as_fiber(lock, deadline, try_it) ? error : ETIMEDOUT;
}

int lock_shared_as_fiber_until(lock_function *try_lock, pthread_rwlock_t *lock, clockid_t by,
                               const std::timespec *time) noexcept
{
    if (const int error = try_lock(lock); error != EBUSY) {
        return error;
    }
    const auto deadline = deadline_of(by, time);
    return deadline ? lock_shared_as_fiber(try_lock, lock, *deadline) : EINVAL;
}

} // namespace

FLUX_CATCH(int, pthread_rwlock_rdlock, pthread_rwlock_t *lock)
{
    return on_loop() ? lock_shared_as_fiber(pthread_rwlock_tryrdlock, lock, flux::never)
                      : next_pthread_rwlock_rdlock(lock);
}

FLUX_CATCH(int, pthread_rwlock_wrlock, pthread_rwlock_t *lock)
{
    return on_loop() ? lock_shared_as_fiber(pthread_rwlock_trywrlock, lock, flux::never)
                      : next_pthread_rwlock_wrlock(lock);
}

FLUX_CATCH(int, pthread_rwlock_timedrdlock, pthread_rwlock_t *lock, const std::timespec *time)
{
    return on_loop() ? lock_shared_as_fiber_until(pthread_rwlock_tryrdlock, lock, CLOCK_REALTIME, time)
                      : next_pthread_rwlock_timedrdlock(lock, time);
}

FLUX_CATCH(int, pthread_rwlock_timedwrlock, pthread_rwlock_t *lock, const std::timespec *time)
{
    return on_loop() ? lock_shared_as_fiber_until(pthread_rwlock_trywrlock, lock, CLOCK_REALTIME, time)
                      : next_pthread_rwlock_timedwrlock(lock, time);
}

FLUX_CATCH(int, pthread_rwlock_clockrdlock, pthread_rwlock_t *lock, clockid_t by, const std::timespec *time)
{
    return on_loop() ? lock_shared_as_fiber_until(pthread_rwlock_tryrdlock, lock, by, time)
                      : next_pthread_rwlock_clockrdlock(lock, by, time);
}

FLUX_CATCH(int, pthread_rwlock_clockwrlock, pthread_rwlock_t *lock, clockid_t by, const std::timespec *time)
{
    return on_loop() ? lock_shared_as_fiber_until(pthread_rwlock_trywrlock, lock, by, time)
                      : next_pthread_rwlock_clockwrlock(lock, by, time);
}

// Many readers may go on where one writer was.
FLUX_CATCH(int, pthread_rwlock_unlock, pthread_rwlock_t *lock)
{
    const int error = next_pthread_rwlock_unlock(lock);
    wake_fibers(lock, everybody);
    return error;
}
