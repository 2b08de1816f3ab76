#include "flux/calls/writes.hpp"

#include "flux/calls/beside_loop.hpp"
#include "flux/calls/caught_call.hpp"
#include "flux/calls/file_kind.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace flux::calls {
namespace {

ssize_t write_vector_at(int to, const iovec *parts, int count, off_t at, int flags);

} // namespace
} // namespace flux::calls

FLUX_CATCH(ssize_t, pwritev2, int to, const iovec *parts, int count, off_t at, int flags)
{
    using namespace flux::calls;
    return on_fiber() && (flags & RWF_NOWAIT) == 0 ? write_vector_at(to, parts, count, at, flags)
                                                   : next_pwritev2(to, parts, count, at, flags);
}

namespace flux::calls {
namespace {

descriptor_awaiter awaits_space(int to) noexcept
{
    return {to, EPOLLOUT, SO_SNDTIMEO};
}

// RWF_NOWAIT is not known to it.
bool knows_no_attempt(int error) noexcept
{
    return error == EOPNOTSUPP || error == ENOSYS || error == EINVAL;
}

/// To a file that cannot be tried. A pipe that has room at all, by poll(2), has it for so much.
template <class Straight>
ssize_t write_polled(int to, std::span<const iovec> parts, Straight straight)
{
    constexpr std::size_t room = PIPE_BUF;
    const std::size_t size = size_of(parts);
    if (size <= room) {
        return insist_by_poll(awaits_space(to), to, POLLOUT, straight);
    }
    std::size_t done = 0;
    for (const iovec &part : parts) {
        std::size_t begin = 0;
        while (begin < part.iov_len) {
            iovec some{static_cast<std::byte *>(part.iov_base) + begin, std::min(room, part.iov_len - begin)};
            const ssize_t written = insist_by_poll(awaits_space(to), to, POLLOUT,
                                                   [&] { return next_pwritev2(to, &some, 1, -1, 0); });
            if (written < 0) {
                return done > 0 ? static_cast<ssize_t>(done) : written;
            }
            begin += static_cast<std::size_t>(written);
            done += static_cast<std::size_t>(written);
        }
    }
    return static_cast<ssize_t>(done);
}

template <class Straight>
ssize_t write_stream(int to, std::span<const iovec> parts, Straight straight)
{
    const auto attempt = [&](std::span<const iovec> left, std::size_t) {
        return next_pwritev2(to, left.data(), static_cast<int>(left.size()), -1, RWF_NOWAIT);
    };
    const ssize_t written = send_all(awaits_space(to), parts, attempt, straight);
    return written < 0 && knows_no_attempt(errno) ? write_polled(to, parts, straight) : written;
}

template <class Straight>
ssize_t write_socket(int to, std::span<const iovec> parts, Straight straight)
{
    const auto attempt = [&](std::span<const iovec> left, std::size_t done) {
        const int flags = MSG_DONTWAIT | (done == 0 ? 0 : MSG_NOSIGNAL);
        if (left.size() == 1) {
            return ::send(to, left.front().iov_base, left.front().iov_len, flags);
        }
        msghdr message{};
        message.msg_iov = const_cast<iovec *>(left.data());
        message.msg_iovlen = left.size();
        return ::sendmsg(to, &message, flags);
    };
    return send_all(awaits_space(to), parts, attempt, straight);
}

template <class Straight>
ssize_t write_parts(int to, std::span<const iovec> parts, Straight straight)
{
    if (!stream_guess::is_stream(to)) {
        const int before = errno;
        const ssize_t sent = write_socket(to, parts, straight);
        if (sent >= 0 || errno != ENOTSOCK) [[likely]] {
            return sent;
        }
        errno = before;
        if (kind_of(to) == file_kind::disk) {
            return beside_loop(straight);
        }
        stream_guess::set(to);
    }
    return write_stream(to, parts, straight);
}

template <class Straight>
ssize_t write_vector(int to, const iovec *parts, int count, Straight straight)
{
    const bool has_bytes = is_part_count(count) && size_of({parts, static_cast<std::size_t>(count)}) != 0;
    return has_bytes ? write_parts(to, {parts, static_cast<std::size_t>(count)}, straight) : straight();
}

ssize_t write_vector_at(int to, const iovec *parts, int count, off_t at, int flags)
{
    const auto straight = [&] { return next_pwritev2(to, parts, count, at, flags); };
    return at == -1 ? write_vector(to, parts, count, straight) : beside_loop(straight);
}

} // namespace
} // namespace flux::calls

FLUX_CATCH(ssize_t, write, int to, const void *from, std::size_t size)
{
    using namespace flux::calls;
    if (!on_fiber() || size == 0) {
        return next_write(to, from, size);
    }
    const iovec whole{const_cast<void *>(from), size};
    return write_parts(to, {&whole, 1}, [&] { return next_write(to, from, size); });
}

FLUX_CATCH(ssize_t, writev, int to, const iovec *parts, int count)
{
    using namespace flux::calls;
    return on_fiber() ? write_vector(to, parts, count, [&] { return next_writev(to, parts, count); })
                      : next_writev(to, parts, count);
}

FLUX_CATCH(ssize_t, pwrite, int to, const void *from, std::size_t size, off_t at)
{
    using namespace flux::calls;
    return on_fiber() ? beside_loop([&] { return next_pwrite(to, from, size, at); }) : next_pwrite(to, from, size, at);
}

FLUX_CATCH(ssize_t, pwrite64, int to, const void *from, std::size_t size, off64_t at)
{
    return flux_call_pwrite(to, from, size, at);
}

FLUX_CATCH(ssize_t, pwritev, int to, const iovec *parts, int count, off_t at)
{
    using namespace flux::calls;
    return on_fiber() ? beside_loop([&] { return next_pwritev(to, parts, count, at); })
                      : next_pwritev(to, parts, count, at);
}

FLUX_CATCH(ssize_t, pwritev64, int to, const iovec *parts, int count, off64_t at)
{
    return flux_call_pwritev(to, parts, count, at);
}

FLUX_CATCH(ssize_t, pwritev64v2, int to, const iovec *parts, int count, off64_t at, int flags)
{
    return flux_call_pwritev2(to, parts, count, at, flags);
}
