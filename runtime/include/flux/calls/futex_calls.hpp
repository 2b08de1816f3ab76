/// \file
/// Futexes that a program waits for by syscall(2), as the C++ library does for `std::atomic::wait`, its semaphores,
/// latches and barriers, and `std::future`; semaphores of the C library; and the end of threads.
#pragma once

/// Rows of the table of calls (`call_table.hpp`).
#define FLUX_FUTEX_CALLS(call) \
    call(syscall, fiber_owned, "futexes alone: std::atomic::wait, std::counting_semaphore, std::future") \
    call(sem_wait, fiber_owned, "one that processes share, and a named one, is handed over") \
    call(sem_timedwait, fiber_owned, "") \
    call(sem_clockwait, fiber_owned, "") \
    call(sem_post, watched, "wakes fibers") \
    call(pthread_join, fiber_owned, "std::thread::join: handed over where the thread goes on") \
    call(pthread_timedjoin_np, fiber_owned, "")
