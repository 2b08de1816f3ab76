#include "flux/calls/receives.hpp"

#include "flux/calls/beside_loop.hpp"
#include "flux/calls/caught_call.hpp"
#include "flux/calls/insist.hpp"
#include "flux/calls/parts.hpp"
#include "flux/io.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

namespace flux::calls {
namespace {

/// What only looks at what is there already, or is said not to wait.
constexpr int never_waits = MSG_DONTWAIT | MSG_ERRQUEUE | MSG_OOB;

descriptor_awaiter awaits_input(int from) noexcept
{
    return {from, EPOLLIN, SO_RCVTIMEO};
}

bool is_byte_stream(int socket) noexcept
{
    int type = 0;
    socklen_t size = sizeof type;
    return getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

/// As recvmsg(2) with MSG_WAITALL, of a byte stream: all that fits, unless the stream ends or something goes wrong.
/// `receive` is recvmsg. What comes with the bytes is that of the first.
template <class Receive, class Straight>
ssize_t receive_all(int from, msghdr &message, int flags, Receive receive, Straight straight)
{
    rest_of_parts rest({message.msg_iov, message.msg_iovlen});
    const std::size_t size = size_of(rest.left());
    const ssize_t first =
        insist(awaits_input(from), [&] { return receive(from, &message, flags | MSG_DONTWAIT); }, straight);
    if (first <= 0 || static_cast<std::size_t>(first) == size || !is_byte_stream(from)) {
        return first;
    }
    std::size_t done = static_cast<std::size_t>(first);
    bool goes_on = rest.advance(done);
    while (goes_on && done < size) {
        msghdr more{};
        more.msg_iov = const_cast<iovec *>(rest.left().data());
        more.msg_iovlen = rest.left().size();
        const auto attempt = [&] { return receive(from, &more, (flags & ~MSG_WAITALL) | MSG_DONTWAIT); };
        const ssize_t got = insist(awaits_input(from), attempt, attempt);
        if (got <= 0) {
            break; // it says so again the next time
        }
        done += static_cast<std::size_t>(got);
        goes_on = done < size && rest.advance(static_cast<std::size_t>(got));
    }
    return static_cast<ssize_t>(done);
}

} // namespace
} // namespace flux::calls

FLUX_CATCH(ssize_t, recvmsg, int from, msghdr *message, int flags)
{
    using namespace flux::calls;
    if (!on_fiber() || (flags & never_waits) != 0) {
        return next_recvmsg(from, message, flags);
    }
    const auto straight = [&] { return next_recvmsg(from, message, flags); };
    if ((flags & MSG_WAITALL) == 0) {
        return insist(awaits_input(from), [&] { return next_recvmsg(from, message, flags | MSG_DONTWAIT); }, straight);
    }
    // Where it only looks, there is nobody to ask when all has come.
    return (flags & MSG_PEEK) != 0 ? beside_loop_interruptibly(straight)
                                   : receive_all(from, *message, flags, next_recvmsg, straight);
}

namespace flux::calls {
namespace {

/// As recvfrom(2), for this fiber, with flags that make it wait in its own way.
ssize_t receive_all_from(int from, iovec whole, int flags, sockaddr *peer, socklen_t *peer_size)
{
    msghdr message{};
    message.msg_iov = &whole;
    message.msg_iovlen = 1;
    message.msg_name = peer;
    message.msg_namelen = peer_size != nullptr ? *peer_size : 0;
    const ssize_t got = ::recvmsg(from, &message, flags);
    if (got >= 0 && peer_size != nullptr) {
        *peer_size = message.msg_namelen;
    }
    return got;
}

} // namespace
} // namespace flux::calls

FLUX_CATCH(ssize_t, recv, int from, void *into, std::size_t size, int flags)
{
    using namespace flux::calls;
    if (!on_fiber() || (flags & never_waits) != 0) {
        return next_recv(from, into, size, flags);
    }
    if ((flags & MSG_WAITALL) != 0) {
        return receive_all_from(from, {into, size}, flags, nullptr, nullptr);
    }
    return insist(
        awaits_input(from), [&] { return next_recv(from, into, size, flags | MSG_DONTWAIT); },
        [&] { return next_recv(from, into, size, flags); });
}

FLUX_CATCH(ssize_t, __recv_chk, int from, void *into, std::size_t size, std::size_t room, int flags)
{
    return size <= room ? flux_call_recv(from, into, size, flags) : next___recv_chk(from, into, size, room, flags);
}

FLUX_CATCH(ssize_t, recvfrom, int from, void *into, std::size_t size, int flags, sockaddr *peer, socklen_t *peer_size)
{
    using namespace flux::calls;
    if (!on_fiber() || (flags & never_waits) != 0) {
        return next_recvfrom(from, into, size, flags, peer, peer_size);
    }
    if ((flags & MSG_WAITALL) != 0) {
        return receive_all_from(from, {into, size}, flags, peer, peer_size);
    }
    return insist(
        awaits_input(from), [&] { return next_recvfrom(from, into, size, flags | MSG_DONTWAIT, peer, peer_size); },
        [&] { return next_recvfrom(from, into, size, flags, peer, peer_size); });
}

FLUX_CATCH(ssize_t, __recvfrom_chk, int from, void *into, std::size_t size, std::size_t room, int flags, sockaddr *peer,
           socklen_t *peer_size)
{
    return size <= room ? flux_call_recvfrom(from, into, size, flags, peer, peer_size)
                        : next___recvfrom_chk(from, into, size, room, flags, peer, peer_size);
}

namespace flux::calls {
namespace {

/// As recvmmsg(2), for this fiber: all of them, or with MSG_WAITFORONE at least one. The manual says of the time limit
/// that Linux looks at it only when a message comes; here it ends the wait.
template <class Receive>
int receive_many(int from, std::span<mmsghdr> messages, int flags, const timespec *longest, Receive receive)
{
    descriptor_awaiter waits = awaits_input(from);
    if (longest != nullptr) {
        waits.set_deadline(running_io().now() + std::chrono::seconds(longest->tv_sec) +
                           std::chrono::nanoseconds(longest->tv_nsec));
    }
    std::size_t done = 0;
    while (done < messages.size()) {
        const std::span<mmsghdr> rest = messages.subspan(done);
        const auto attempt = [&]() -> ssize_t {
            return receive(from, rest.data(), static_cast<unsigned>(rest.size()), flags | MSG_DONTWAIT, nullptr);
        };
        const auto one = [&]() -> ssize_t { return receive(from, rest.data(), 1, flags, nullptr); };
        const ssize_t got = insist(waits, attempt, one);
        if (got < 0) {
            return done > 0 ? static_cast<int>(done) : -1;
        }
        done += static_cast<std::size_t>(got);
        if ((flags & MSG_WAITFORONE) != 0) {
            break;
        }
    }
    return static_cast<int>(done);
}

} // namespace
} // namespace flux::calls

FLUX_CATCH(int, recvmmsg, int from, mmsghdr *messages, unsigned int count, int flags, timespec *longest)
{
    using namespace flux::calls;
    return on_fiber() && count > 0 && (flags & never_waits) == 0
               ? receive_many(from, {messages, count}, flags, longest, next_recvmmsg)
               : next_recvmmsg(from, messages, count, flags, longest);
}
