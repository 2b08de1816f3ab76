/// \file
/// Waits for io_uring by an eventfd instead of `io_uring_enter`, in programs whose instructions are counted. Valgrind
/// runs one thread at a time, and takes `io_uring_enter` for a call that does not wait: a thread that waits there holds
/// up all others, and signals too. Linked with `--wrap` for each of these functions.
#include "checked.hpp"

#include <cerrno>
#include <liburing.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace {

// Each thread has one ring.
int bell_of(io_uring *ring)
{
    thread_local io_uring *known = nullptr;
    thread_local int bell = -1;
    if (known != ring) {
        known = ring;
        bell = checked(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd");
        errno = -io_uring_register_eventfd(ring, bell);
        checked(errno == 0 ? 0 : -1, "io_uring_register_eventfd");
    }
    return bell;
}

int wait_for_events(io_uring *ring, const timespec *longest)
{
    const int bell = bell_of(ring);
    const int submitted = io_uring_submit_and_get_events(ring);
    if (submitted < 0 || io_uring_cq_ready(ring) != 0) {
        return submitted;
    }
    pollfd readable{bell, POLLIN, 0};
    const int count = ppoll(&readable, 1, longest, nullptr);
    if (count <= 0) {
        return count == 0 ? -ETIME : -errno;
    }
    eventfd_t rung = 0;
    eventfd_read(bell, &rung);
    io_uring_get_events(ring);
    return submitted;
}

} // namespace

extern "C" int __wrap_io_uring_submit_and_wait(io_uring *ring, unsigned)
{
    return wait_for_events(ring, nullptr);
}

extern "C" int __wrap_io_uring_submit_and_wait_timeout(io_uring *ring, io_uring_cqe **first, unsigned,
                                                       __kernel_timespec *longest, sigset_t *)
{
    timespec time{longest->tv_sec, longest->tv_nsec};
    const int result = wait_for_events(ring, &time);
    if (result >= 0) {
        io_uring_peek_cqe(ring, first);
    }
    return result;
}
