/// \file
/// A call that is tried without waiting until it gives something else than EAGAIN; in between, the fiber waits.
#pragma once

#include "flux/calls/await_descriptor.hpp"

#include <cerrno>
#include <poll.h>
#include <sys/types.h>

namespace flux::calls {

/// Gives what `attempt` gives, or `straight`, which is the call as it would be without Flux. Both set `errno`. A call
/// that succeeds after a wait leaves `errno` as it was.
template <class Attempt, class Straight>
ssize_t insist(descriptor_awaiter waits, Attempt attempt, Straight straight)
{
    const int before = errno;
    while (true) {
        const ssize_t result = attempt();
        if (result >= 0 || errno != EAGAIN) [[likely]] {
            return result;
        }
        switch (waits.wait()) {
        case verdict::again:
            errno = before;
            break;
        case verdict::fail:
            return -1;
        case verdict::straight:
            errno = before;
            return straight();
        }
    }
}

/// As `insist`, for a file that cannot be tried: it is asked by poll(2) for one of these events, and then `straight`
/// does not wait, unless another thread is faster.
template <class Straight>
ssize_t insist_by_poll(descriptor_awaiter waits, int number, short events, Straight straight)
{
    const auto attempt = [&]() -> ssize_t {
        pollfd one{number, events, 0};
        if (::poll(&one, 1, 0) != 0) {
            return 0;
        }
        errno = EAGAIN;
        return -1;
    };
    return insist(waits, attempt, [] { return ssize_t{0}; }) < 0 ? -1 : straight();
}

} // namespace flux::calls
