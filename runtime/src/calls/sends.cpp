#include "flux/calls/sends.hpp"

#include "flux/calls/caught_call.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

namespace flux::calls {
namespace {

descriptor_awaiter awaits_room(int to) noexcept
{
    return {to, EPOLLOUT, SO_SNDTIMEO};
}

/// As sendmsg(2), for this fiber. What goes along with the bytes goes with the first of them. That the peer is gone is
/// told by a signal only where nothing was sent.
template <class Send, class Straight>
ssize_t send_message(int to, const msghdr &message, int flags, Send send, Straight straight)
{
    const auto attempt = [&](std::span<const iovec> parts, std::size_t done) -> ssize_t {
        if (done == 0) {
            return send(to, &message, flags | MSG_DONTWAIT);
        }
        msghdr more{};
        more.msg_iov = const_cast<iovec *>(parts.data());
        more.msg_iovlen = parts.size();
        return send(to, &more, flags | MSG_DONTWAIT | MSG_NOSIGNAL);
    };
    return send_all(awaits_room(to), {message.msg_iov, message.msg_iovlen}, attempt, straight);
}

} // namespace
} // namespace flux::calls

FLUX_CATCH(ssize_t, sendmsg, int to, const msghdr *message, int flags)
{
    using namespace flux::calls;
    return on_fiber() && (flags & MSG_DONTWAIT) == 0
               ? send_message(to, *message, flags, next_sendmsg, [&] { return next_sendmsg(to, message, flags); })
               : next_sendmsg(to, message, flags);
}

namespace flux::calls {
namespace {

/// As send(2) and sendto(2), which `send(bytes, size, flags)` is one of.
template <class Send>
ssize_t send_bytes(int to, const void *from, std::size_t size, int flags, Send send)
{
    const iovec whole{const_cast<void *>(from), size};
    const auto attempt = [&](std::span<const iovec> parts, std::size_t done) {
        const iovec &left = parts.front();
        return send(left.iov_base, left.iov_len, flags | MSG_DONTWAIT | (done == 0 ? 0 : MSG_NOSIGNAL));
    };
    return send_all(awaits_room(to), {&whole, 1}, attempt, [&] { return send(from, size, flags); });
}

} // namespace
} // namespace flux::calls

FLUX_CATCH(ssize_t, send, int to, const void *from, std::size_t size, int flags)
{
    using namespace flux::calls;
    const auto send = [to](const void *bytes, std::size_t count, int how) { return next_send(to, bytes, count, how); };
    return on_fiber() && (flags & MSG_DONTWAIT) == 0 ? send_bytes(to, from, size, flags, send)
                                                     : next_send(to, from, size, flags);
}

FLUX_CATCH(ssize_t, sendto, int to, const void *from, std::size_t size, int flags, const sockaddr *peer,
           socklen_t peer_size)
{
    using namespace flux::calls;
    const auto send = [=](const void *bytes, std::size_t count, int how) {
        return next_sendto(to, bytes, count, how, peer, peer_size);
    };
    return on_fiber() && (flags & MSG_DONTWAIT) == 0 ? send_bytes(to, from, size, flags, send)
                                                     : next_sendto(to, from, size, flags, peer, peer_size);
}

namespace flux::calls {
namespace {

/// As sendmmsg(2), for this fiber. The kernel stops behind a message of which it has taken a part.
template <class Send>
int send_many(int to, std::span<mmsghdr> messages, int flags, Send send)
{
    std::size_t done = 0;
    while (done < messages.size()) {
        const auto attempt_some = [&](std::span<mmsghdr> some, int how) -> ssize_t {
            return send(to, some.data(), static_cast<unsigned int>(some.size()), how);
        };
        const std::span<mmsghdr> rest = messages.subspan(done);
        const ssize_t sent = insist(
            awaits_room(to), [&] { return attempt_some(rest, flags | MSG_DONTWAIT); },
            [&] { return attempt_some(rest.first(1), flags); });
        if (sent < 0) {
            return done > 0 ? static_cast<int>(done) : -1;
        }
        done += static_cast<std::size_t>(sent);
        mmsghdr &last = messages[done - 1];
        const std::span<const iovec> parts(last.msg_hdr.msg_iov, last.msg_hdr.msg_iovlen);
        if (last.msg_len < size_of(parts)) {
            rest_of_parts behind(parts);
            if (!behind.advance(last.msg_len)) {
                return static_cast<int>(done);
            }
            msghdr more{};
            more.msg_iov = const_cast<iovec *>(behind.left().data());
            more.msg_iovlen = behind.left().size();
            last.msg_len += static_cast<unsigned int>(std::max(::sendmsg(to, &more, flags), ssize_t{0}));
        }
    }
    return static_cast<int>(done);
}

} // namespace
} // namespace flux::calls

FLUX_CATCH(int, sendmmsg, int to, mmsghdr *messages, unsigned int count, int flags)
{
    using namespace flux::calls;
    return on_fiber() && count > 0 && (flags & MSG_DONTWAIT) == 0
               ? send_many(to, {messages, count}, flags, next_sendmmsg)
               : next_sendmmsg(to, messages, count, flags);
}
