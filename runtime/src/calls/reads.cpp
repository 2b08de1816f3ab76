#include "flux/calls/reads.hpp"

#include "flux/calls/beside_loop.hpp"
#include "flux/calls/caught_call.hpp"
#include "flux/calls/file_kind.hpp"
#include "flux/calls/insist.hpp"
#include "flux/calls/parts.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace flux::calls {
namespace {

ssize_t read_vector_at(int from, const iovec *parts, int count, off_t at, int flags);

} // namespace
} // namespace flux::calls

FLUX_CATCH(ssize_t, preadv2, int from, const iovec *parts, int count, off_t at, int flags)
{
    using namespace flux::calls;
    return on_fiber() && (flags & RWF_NOWAIT) == 0 ? read_vector_at(from, parts, count, at, flags)
                                                   : next_preadv2(from, parts, count, at, flags);
}

namespace flux::calls {
namespace {

descriptor_awaiter awaits_bytes(int from) noexcept
{
    return {from, EPOLLIN, SO_RCVTIMEO};
}

// Neither MSG_DONTWAIT nor RWF_NOWAIT is known to it.
bool cannot_be_tried(int error) noexcept
{
    return error == EOPNOTSUPP || error == ENOSYS || error == EINVAL;
}

/// Of a file on a disk: what is in memory comes at once, and the rest by another thread. `at` is -1 for the file's own
/// position.
template <class Straight>
ssize_t read_disk(int from, std::span<const iovec> parts, off_t at, Straight straight)
{
    const int before = errno;
    const std::size_t size = size_of(parts);
    rest_of_parts rest(parts);
    std::size_t done = 0;
    const auto read_rest = [&](int flags) {
        const std::span<const iovec> left = rest.left();
        const off_t place = at < 0 ? at : at + static_cast<off_t>(done);
        return next_preadv2(from, left.data(), static_cast<int>(left.size()), place, flags);
    };
    ssize_t got = read_rest(RWF_NOWAIT);
    while (got > 0 && done + static_cast<std::size_t>(got) < size) {
        done += static_cast<std::size_t>(got);
        if (!rest.advance(static_cast<std::size_t>(got))) {
            return static_cast<ssize_t>(done);
        }
        got = read_rest(RWF_NOWAIT); // it is at its end, or the rest is not in memory
    }
    if (got < 0 && (errno == EAGAIN || cannot_be_tried(errno))) {
        errno = before;
        got = done == 0 ? beside_loop(straight) : beside_loop([&] { return read_rest(0); });
    }
    return done == 0 ? got : static_cast<ssize_t>(done) + std::max(got, ssize_t{0});
}

template <class Straight>
ssize_t read_stream(int from, std::span<const iovec> parts, Straight straight)
{
    const auto attempt = [&] {
        return next_preadv2(from, parts.data(), static_cast<int>(parts.size()), -1, RWF_NOWAIT);
    };
    const ssize_t got = insist(awaits_bytes(from), attempt, straight);
    return got < 0 && cannot_be_tried(errno) ? insist_by_poll(awaits_bytes(from), from, POLLIN, straight) : got;
}

ssize_t receive_parts(int from, std::span<const iovec> parts) noexcept
{
    if (parts.size() == 1) {
        return ::recv(from, parts.front().iov_base, parts.front().iov_len, MSG_DONTWAIT);
    }
    msghdr message{};
    message.msg_iov = const_cast<iovec *>(parts.data());
    message.msg_iovlen = parts.size();
    return ::recvmsg(from, &message, MSG_DONTWAIT);
}

template <class Straight>
ssize_t read_parts(int from, std::span<const iovec> parts, Straight straight)
{
    if (!stream_guess::is_stream(from)) {
        const int before = errno;
        const ssize_t got = insist(awaits_bytes(from), [&] { return receive_parts(from, parts); }, straight);
        if (got >= 0 || errno != ENOTSOCK) [[likely]] {
            return got;
        }
        errno = before;
        if (kind_of(from) == file_kind::disk) {
            return read_disk(from, parts, -1, straight);
        }
        stream_guess::set(from);
    }
    return read_stream(from, parts, straight);
}

/// As read(2), for this fiber.
template <class Straight>
ssize_t read_some(int from, void *into, std::size_t size, Straight straight)
{
    const iovec whole{into, size};
    return size == 0 ? straight() : read_parts(from, {&whole, 1}, straight);
}

/// As readv(2), for this fiber.
template <class Straight>
ssize_t read_vector(int from, const iovec *parts, int count, Straight straight)
{
    const bool has_room = is_part_count(count) && size_of({parts, static_cast<std::size_t>(count)}) != 0;
    return has_room ? read_parts(from, {parts, static_cast<std::size_t>(count)}, straight) : straight();
}

/// As preadv2(2), for this fiber. Only a file with positions is read at one, and such a file is on a disk or in memory.
ssize_t read_vector_at(int from, const iovec *parts, int count, off_t at, int flags)
{
    const auto straight = [&] { return next_preadv2(from, parts, count, at, flags); };
    if (at == -1) {
        return read_vector(from, parts, count, straight);
    }
    return is_part_count(count) && at >= 0 ? read_disk(from, {parts, static_cast<std::size_t>(count)}, at, straight)
                                           : straight();
}

/// As pread(2), for this fiber.
template <class Straight>
ssize_t read_some_at(int from, void *into, std::size_t size, off_t at, Straight straight)
{
    const iovec whole{into, size};
    return size > 0 && at >= 0 ? read_disk(from, {&whole, 1}, at, straight) : straight();
}

} // namespace
} // namespace flux::calls

FLUX_CATCH(ssize_t, read, int from, void *into, std::size_t size)
{
    using namespace flux::calls;
    return on_fiber() ? read_some(from, into, size, [&] { return next_read(from, into, size); })
                      : next_read(from, into, size);
}

FLUX_CATCH(ssize_t, __read_chk, int from, void *into, std::size_t size, std::size_t room)
{
    return size <= room ? flux_call_read(from, into, size) : next___read_chk(from, into, size, room);
}

FLUX_CATCH(ssize_t, readv, int from, const iovec *parts, int count)
{
    using namespace flux::calls;
    return on_fiber() ? read_vector(from, parts, count, [&] { return next_readv(from, parts, count); })
                      : next_readv(from, parts, count);
}

FLUX_CATCH(ssize_t, pread, int from, void *into, std::size_t size, off_t at)
{
    using namespace flux::calls;
    return on_fiber() ? read_some_at(from, into, size, at, [&] { return next_pread(from, into, size, at); })
                      : next_pread(from, into, size, at);
}

FLUX_CATCH(ssize_t, pread64, int from, void *into, std::size_t size, off64_t at)
{
    return flux_call_pread(from, into, size, at);
}

FLUX_CATCH(ssize_t, __pread_chk, int from, void *into, std::size_t size, off_t at, std::size_t room)
{
    return size <= room ? flux_call_pread(from, into, size, at) : next___pread_chk(from, into, size, at, room);
}

FLUX_CATCH(ssize_t, __pread64_chk, int from, void *into, std::size_t size, off64_t at, std::size_t room)
{
    return size <= room ? flux_call_pread(from, into, size, at) : next___pread64_chk(from, into, size, at, room);
}

FLUX_CATCH(ssize_t, preadv, int from, const iovec *parts, int count, off_t at)
{
    // -1 is no position here.
    return flux::calls::on_fiber() && at >= 0 ? flux::calls::read_vector_at(from, parts, count, at, 0)
                                              : next_preadv(from, parts, count, at);
}

FLUX_CATCH(ssize_t, preadv64, int from, const iovec *parts, int count, off64_t at)
{
    return flux_call_preadv(from, parts, count, at);
}

FLUX_CATCH(ssize_t, preadv64v2, int from, const iovec *parts, int count, off64_t at, int flags)
{
    return flux_call_preadv2(from, parts, count, at, flags);
}

FLUX_CATCH(int, eventfd_read, int from, eventfd_t *value)
{
    return flux_call_read(from, value, sizeof *value) == sizeof *value ? 0 : -1;
}
