#include "flux/calls/connects.hpp"

#include "flux/calls/beside_loop.hpp"
#include "flux/calls/caught_call.hpp"
#include "flux/io/loop_io.hpp"
#include "flux/io/loop_owned.hpp"
#include "flux/io/ring.hpp"
#include "flux/waiting/spin_lock.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>

namespace flux::calls {
namespace {

/// Held between the look at a listener and the call: neither waits.
spin_lock &accept_lock(int listener) noexcept
{
    static constinit std::array<spin_lock, 16> locks;
    return locks[static_cast<unsigned>(listener) % locks.size()];
}

/// `accept()` takes the next peer, and waits where there is none.
template <class Accept>
int accept_parking(int listener, Accept accept)
{
    if (!may_wait(listener)) {
        return accept();
    }
    const auto attempt = [&]() -> ssize_t {
        const std::lock_guard alone(accept_lock(listener));
        pollfd one{listener, POLLIN, 0};
        if (::poll(&one, 1, 0) == 0) {
            errno = EAGAIN;
            return -1;
        }
        return accept();
    };
    const descriptor_awaiter waits(listener, EPOLLIN, SO_RCVTIMEO);
    return static_cast<int>(insist(waits, attempt, [&]() -> ssize_t { return accept(); }));
}

/// Whether connect(2) of this socket takes time: it makes a connection, and is to wait for it.
bool connects_slowly(int socket) noexcept
{
    int type = 0;
    socklen_t size = sizeof type;
    return getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type != SOCK_DGRAM && may_wait(socket);
}

moment connect_deadline(int socket) noexcept
{
    timeval longest{};
    socklen_t size = sizeof longest;
    const bool is_limited = getsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &longest, &size) == 0 &&
                            (longest.tv_sec != 0 || longest.tv_usec != 0);
    const auto time = std::chrono::seconds(longest.tv_sec) + std::chrono::microseconds(longest.tv_usec);
    return is_limited ? io_of_running_loop->now() + time : never;
}

int connect_by_ring(ring &through, int socket, const sockaddr *to, socklen_t size) noexcept
{
    const moment deadline = connect_deadline(socket);
    const int before = errno;
    operation connecting;
    const int result = connecting.run(through, deadline, [&](io_uring_sqe &entry) {
        io_uring_prep_connect(&entry, socket, to, size);
    });
    errno = before;
    if (result == 0) {
        return 0;
    }
    const bool own_time = connecting.error() == ETIMEDOUT && deadline < running_flow->deadline();
    errno = own_time ? EINPROGRESS : connecting.error() != 0 ? connecting.error() : -result;
    return -1;
}

} // namespace
} // namespace flux::calls

FLUX_CATCH(int, accept, int listener, sockaddr *peer, socklen_t *size)
{
    using namespace flux::calls;
    return on_fiber() ? accept_parking(listener, [&] { return next_accept(listener, peer, size); })
                      : next_accept(listener, peer, size);
}

FLUX_CATCH(int, accept4, int listener, sockaddr *peer, socklen_t *size, int flags)
{
    using namespace flux::calls;
    return on_fiber() ? accept_parking(listener, [&] { return next_accept4(listener, peer, size, flags); })
                      : next_accept4(listener, peer, size, flags);
}

FLUX_CATCH(int, connect, int socket, const sockaddr *to, socklen_t size)
{
    using namespace flux::calls;
    if (!on_fiber() || !connects_slowly(socket)) {
        return next_connect(socket, to, size);
    }
    if (flux::ring *const through = flux::io_of_running_loop->operations()) {
        return connect_by_ring(*through, socket, to, size);
    }
    return beside_loop_interruptibly([&] { return next_connect(socket, to, size); });
}
