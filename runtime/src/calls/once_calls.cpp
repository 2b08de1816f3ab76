#include "flux/calls/once_calls.hpp"

#include "flux/calls/fiber_locks.hpp"

#include "flux/calls/caught_call.hpp"
#include "flux/list/intrusive_list.hpp"
#include "flux/waiting/spin_lock.hpp"

#include <mutex>
#include <pthread.h>

namespace flux::calls {
namespace {

/// Where the caller waits, a fiber or a thread.
class own_place
{
  public:
    operator waiter &() noexcept { return on_loop() ? resident::running()->place_of_calls() : thread_; }

  private:
    thread_waiter thread_;
};

// What a fiber waits here it is parked. A thread sleeps, which its clock tells; and what tells the time there may have
// to be initialised itself.
time_away parked_time() noexcept
{
    return {on_loop() && running_flow != nullptr ? &running_flow->timing() : nullptr, time_kind::parked};
}

// Waits until `try_it()` says so.
template <class Try>
void await(const void *address, Try try_it) noexcept
{
    own_place place;
    const time_away parked = parked_time();
    waiting_fibers.acquire(address, place, never, try_it);
}

/// A function that runs and is to run once, for its control.
struct once_run : listed<once_run> {
    explicit once_run(const pthread_once_t *of) noexcept : control(of) {}

    const pthread_once_t *const control;
};

/// Those that run now, wherever.
class once_runs
{
  public:
    /// False where another runs for the same control.
    bool begin(once_run &own) noexcept
    {
        const std::lock_guard alone(lock_);
        for (const once_run *each = all_.first(); each != nullptr; each = intrusive_list<once_run>::next(*each)) {
            if (each->control == own.control) {
                return false;
            }
        }
        all_.push_back(own);
        return true;
    }

    void end(once_run &own) noexcept
    {
        const std::lock_guard alone(lock_);
        all_.remove(own);
    }

  private:
    spin_lock lock_;
    intrusive_list<once_run> all_;
};

constinit once_runs running_once;

// Bit 1 of the control (nptl/pthreadP.h, __PTHREAD_ONCE_DONE).
bool has_run(const pthread_once_t *control) noexcept
{
    constexpr int done = 2;
    return (__atomic_load_n(control, __ATOMIC_ACQUIRE) & done) != 0;
}

/// What `std::call_once` leaves for the function that it has `pthread_once` call, in variables of the thread: another
/// fiber may use them while this one waits.
class for_call_once
{
  public:
    for_call_once() noexcept : callable_(std::__once_callable), call_(std::__once_call) {}
    for_call_once(const for_call_once &) = delete;
    for_call_once &operator=(const for_call_once &) = delete;

    void put_back() const noexcept
    {
        std::__once_callable = callable_;
        std::__once_call = call_;
    }

  private:
    void *const callable_;
    void (*const call_)();
};

/// A run that has begun, to its end: also by an exception, after which the next one runs the function.
class running_run
{
  public:
    explicit running_run(once_run &own) noexcept : own_(own) {}
    ~running_run()
    {
        running_once.end(own_);
        wake_fibers(own_.control, 1);
    }
    running_run(const running_run &) = delete;
    running_run &operator=(const running_run &) = delete;

  private:
    once_run &own_;
};

int call_once(int (*next)(pthread_once_t *, void (*)()), pthread_once_t *control, void (*function)())
{
    if (has_run(control)) {
        return next(control, function); // which comes back at once, and knows that the data are there
    }
    const for_call_once kept;
    once_run own(control);
    bool begun = false;
    const auto try_it = [&] {
        begun = !has_run(control) && running_once.begin(own);
        return begun || has_run(control);
    };
    await(control, try_it);
    kept.put_back();
    if (!begun) {
        wake_fibers(control, 1); // who waits behind sees it, too
        return next(control, function);
    }
    const running_run until_it_ends(own);
    return next(control, function);
}

// A guard, by the C++ ABI for Itanium, 3.3.2 and 3.3.3: its first byte is not 0 from the time on that the variable is
// initialised. The other bytes are ours.
struct guard {
    unsigned char is_initialised;
    unsigned char is_at_it;
};

bool begin_initialisation(guard *of) noexcept
{
    const auto is_done = [of] { return __atomic_load_n(&of->is_initialised, __ATOMIC_ACQUIRE) != 0; };
    if (is_done()) {
        return false;
    }
    bool begun = false;
    // One at a time: the table calls it for one address alone.
    const auto try_it = [&] {
        if (is_done()) {
            return true;
        }
        begun = __atomic_exchange_n(&of->is_at_it, 1, __ATOMIC_ACQUIRE) == 0;
        return begun;
    };
    await(of, try_it);
    return begun;
}

void end_initialisation(guard *of, bool is_initialised) noexcept
{
    __atomic_store_n(&of->is_initialised, is_initialised ? 1 : 0, __ATOMIC_RELEASE);
    __atomic_store_n(&of->is_at_it, 0, __ATOMIC_SEQ_CST);
    wake_fibers(of, ~std::size_t{0});
}

/// A barrier, in place of what the C library would keep there. One that several processes share is the library's.
struct own_barrier {
    unsigned total;
    unsigned arrived;
    void *is_ours;
};
static_assert(sizeof(own_barrier) <= sizeof(pthread_barrier_t));

own_barrier *as_ours(pthread_barrier_t *of) noexcept
{
    auto *const seen = reinterpret_cast<own_barrier *>(of);
    return seen->is_ours == &running_once ? seen : nullptr;
}

int arrive(own_barrier *at) noexcept
{
    const unsigned others = at->total - 1;
    own_place place;
    wait_table::entry own(at, place);
    const auto is_not_last = [at] {
        at->arrived = at->arrived + 1 == at->total ? 0 : at->arrived + 1;
        return at->arrived != 0;
    };
    if (waiting_fibers.begin(own, is_not_last)) {
        const time_away parked = parked_time();
        waiting_fibers.sleep(own);
        return 0;
    }
    // Those of this round have waited longest. The barrier may be gone as soon as one of them goes on.
    waiting_fibers.wake(at, others);
    return PTHREAD_BARRIER_SERIAL_THREAD;
}

} // namespace
} // namespace flux::calls

using namespace flux::calls;

FLUX_CATCH(int, pthread_once, pthread_once_t *control, void (*function)())
{
    return call_once(next_pthread_once.get(), control, function);
}

// The compiler sees that these throw nothing, and would have their aliases say so.
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmissing-attributes"
#endif

// Clang's thread sanitizer is part of the executable and defines these itself.
#if defined(__clang__) && defined(FLUX_THREAD_SANITIZER)
#define FLUX_CATCH_GUARD(result, name, parameter) extern "C" FLUX_KEPT result flux_call_##name(parameter)
extern "C" {
int flux_call___cxa_guard_acquire(void *of);
void flux_call___cxa_guard_release(void *of);
void flux_call___cxa_guard_abort(void *of);
}
#else
#define FLUX_CATCH_GUARD FLUX_CATCH
#endif

FLUX_CATCH_GUARD(int, __cxa_guard_acquire, void *of)
{
    return begin_initialisation(static_cast<guard *>(of)) ? 1 : 0;
}

FLUX_CATCH_GUARD(void, __cxa_guard_release, void *of)
{
    end_initialisation(static_cast<guard *>(of), true);
}

FLUX_CATCH_GUARD(void, __cxa_guard_abort, void *of)
{
    end_initialisation(static_cast<guard *>(of), false);
}

FLUX_CATCH(int, pthread_barrier_init, pthread_barrier_t *made, const pthread_barrierattr_t *attributes, unsigned total)
{
    int shared = PTHREAD_PROCESS_PRIVATE;
    if (total == 0 || (attributes != nullptr && pthread_barrierattr_getpshared(attributes, &shared) == 0 &&
                       shared == PTHREAD_PROCESS_SHARED)) {
        return next_pthread_barrier_init(made, attributes, total);
    }
    *reinterpret_cast<own_barrier *>(made) = {total, 0, &running_once};
    return 0;
}

FLUX_CATCH(int, pthread_barrier_wait, pthread_barrier_t *at)
{
    own_barrier *const ours = as_ours(at);
    return ours != nullptr ? arrive(ours) : next_pthread_barrier_wait(at);
}

FLUX_CATCH(int, pthread_barrier_destroy, pthread_barrier_t *unused)
{
    return as_ours(unused) != nullptr ? 0 : next_pthread_barrier_destroy(unused);
}
