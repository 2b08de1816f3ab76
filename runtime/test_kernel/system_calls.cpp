/// \file
/// The system calls of sockets, epoll and the clock by their own names: those for the fake kernel's descriptors go
/// there, all others to the system.
#include "fake_kernel.hpp"

#include "flux/io/system_call.hpp"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

template <class Result>
Result result_of(Result given) noexcept
{
    if (given < 0) {
        errno = static_cast<int>(-given);
        return -1;
    }
    return given;
}

bool is_fake(int descriptor) noexcept
{
    return fake_kernel::owns(descriptor);
}

fake_kernel &kernel() noexcept
{
    return *fake_kernel::of_process();
}

flux::address address_of(const sockaddr *at, socklen_t size) noexcept
{
    flux::address made;
    std::memcpy(&made.storage, at, size);
    made.size = size;
    return made;
}

void give(const flux::address &from, sockaddr *into, socklen_t *size) noexcept
{
    if (into != nullptr && size != nullptr) {
        std::memcpy(into, &from.storage, std::min(*size, from.size));
        *size = from.size;
    }
}

flux::moment until_of(const timespec *longest) noexcept
{
    if (longest == nullptr) {
        return flux::never;
    }
    const auto time = std::chrono::seconds(longest->tv_sec) + std::chrono::nanoseconds(longest->tv_nsec);
    return time.count() == 0 ? flux::moment::min() : kernel().now() + time;
}

} // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec *time) noexcept
{
    const fake_kernel *const own = fake_kernel::of_thread();
    if (own == nullptr || clock != CLOCK_MONOTONIC) {
        return static_cast<int>(syscall(SYS_clock_gettime, clock, time));
    }
    *time = flux::timespec_of(own->now().time_since_epoch());
    return 0;
}

int epoll_create1(int flags) noexcept
{
    fake_kernel *const own = fake_kernel::of_thread();
    return own != nullptr ? own->make_epoll() : static_cast<int>(syscall(SYS_epoll_create1, flags));
}

int epoll_ctl(int epoll, int operation, int descriptor, epoll_event *event) noexcept
{
    return is_fake(epoll) ? result_of(kernel().control(epoll, operation, descriptor, event))
                          : static_cast<int>(syscall(SYS_epoll_ctl, epoll, operation, descriptor, event));
}

int epoll_pwait2(int epoll, epoll_event *events, int most, const timespec *longest, const sigset_t *mask)
{
    return is_fake(epoll)
               ? result_of(kernel().wait(epoll, {events, static_cast<std::size_t>(most)}, until_of(longest)))
               : static_cast<int>(syscall(SYS_epoll_pwait2, epoll, events, most, longest, mask, sizeof(long)));
}

int eventfd(unsigned count, int flags) noexcept
{
    fake_kernel *const own = fake_kernel::of_thread();
    return own != nullptr ? own->make_counter() : static_cast<int>(syscall(SYS_eventfd2, count, flags));
}

int eventfd_write(int descriptor, eventfd_t value)
{
    if (is_fake(descriptor)) {
        return kernel().count(descriptor);
    }
    return syscall(SYS_write, descriptor, &value, sizeof value) == sizeof value ? 0 : -1;
}

int socket(int family, int type, int protocol) noexcept
{
    fake_kernel *const own = fake_kernel::of_thread();
    return own != nullptr ? own->make_socket(family, type)
                          : static_cast<int>(syscall(SYS_socket, family, type, protocol));
}

int bind(int descriptor, const sockaddr *at, socklen_t size) noexcept
{
    return is_fake(descriptor) ? result_of(kernel().bind(descriptor, address_of(at, size)))
                               : static_cast<int>(syscall(SYS_bind, descriptor, at, size));
}

int listen(int descriptor, int backlog) noexcept
{
    return is_fake(descriptor) ? result_of(kernel().listen(descriptor))
                               : static_cast<int>(syscall(SYS_listen, descriptor, backlog));
}

int accept4(int descriptor, sockaddr *peer, socklen_t *size, int flags)
{
    if (!is_fake(descriptor)) {
        return static_cast<int>(syscall(SYS_accept4, descriptor, peer, size, flags));
    }
    flux::address from;
    const int accepted = kernel().accept(descriptor, from);
    if (accepted >= 0) {
        give(from, peer, size);
    }
    return result_of(accepted);
}

int connect(int descriptor, const sockaddr *to, socklen_t size)
{
    return is_fake(descriptor) ? result_of(kernel().connect(descriptor, address_of(to, size)))
                               : static_cast<int>(syscall(SYS_connect, descriptor, to, size));
}

int getsockopt(int descriptor, int level, int option, void *value, socklen_t *size) noexcept
{
    if (!is_fake(descriptor)) {
        return static_cast<int>(syscall(SYS_getsockopt, descriptor, level, option, value, size));
    }
    const int given = level == SOL_SOCKET && option == SO_ERROR ? kernel().error_of(descriptor) : 0;
    std::memcpy(value, &given, sizeof given);
    return 0;
}

int setsockopt(int descriptor, int level, int option, const void *value, socklen_t size) noexcept
{
    return is_fake(descriptor) ? 0
                               : static_cast<int>(syscall(SYS_setsockopt, descriptor, level, option, value, size));
}

int getsockname(int descriptor, sockaddr *own, socklen_t *size) noexcept
{
    if (!is_fake(descriptor)) {
        return static_cast<int>(syscall(SYS_getsockname, descriptor, own, size));
    }
    give(kernel().local(descriptor), own, size);
    return 0;
}

ssize_t recv(int descriptor, void *into, size_t size, int flags)
{
    return is_fake(descriptor)
               ? result_of(kernel().receive(descriptor, {static_cast<std::byte *>(into), size}, flags & MSG_PEEK))
               : syscall(SYS_recvfrom, descriptor, into, size, flags, nullptr, nullptr);
}

ssize_t send(int descriptor, const void *from, size_t size, int flags)
{
    if (!is_fake(descriptor)) {
        return syscall(SYS_sendto, descriptor, from, size, flags, nullptr, 0);
    }
    const iovec whole{const_cast<void *>(from), size};
    return result_of(kernel().send(descriptor, {&whole, 1}));
}

ssize_t sendmsg(int descriptor, const msghdr *message, int flags)
{
    return is_fake(descriptor) ? result_of(kernel().send(descriptor, {message->msg_iov, message->msg_iovlen}))
                               : syscall(SYS_sendmsg, descriptor, message, flags);
}

ssize_t recvfrom(int descriptor, void *into, size_t size, int flags, sockaddr *from, socklen_t *from_size)
{
    if (!is_fake(descriptor)) {
        return syscall(SYS_recvfrom, descriptor, into, size, flags, from, from_size);
    }
    flux::address sender;
    const ssize_t count = kernel().receive_message(descriptor, {static_cast<std::byte *>(into), size}, sender);
    if (count >= 0) {
        give(sender, from, from_size);
    }
    return result_of(count);
}

ssize_t sendto(int descriptor, const void *from, size_t size, int flags, const sockaddr *to, socklen_t to_size)
{
    return is_fake(descriptor) ? result_of(kernel().send_message(descriptor, {static_cast<const char *>(from), size},
                                                                 address_of(to, to_size)))
                               : syscall(SYS_sendto, descriptor, from, size, flags, to, to_size);
}

int shutdown(int descriptor, int how) noexcept
{
    return is_fake(descriptor) ? result_of(kernel().end_output(descriptor))
                               : static_cast<int>(syscall(SYS_shutdown, descriptor, how));
}

int close(int descriptor)
{
    return is_fake(descriptor) ? result_of(kernel().close(descriptor))
                               : static_cast<int>(syscall(SYS_close, descriptor));
}

} // extern "C"

// What the runtime calls beside the C library.

ssize_t flux::system_call::receive(int from, std::span<std::byte> into, int flags) noexcept
{
    return ::recv(from, into.data(), into.size(), flags);
}

ssize_t flux::system_call::send(int to, std::span<const std::byte> bytes, int flags) noexcept
{
    return ::send(to, bytes.data(), bytes.size(), flags);
}

ssize_t flux::system_call::send_parts(int to, const msghdr &message, int flags) noexcept
{
    return ::sendmsg(to, &message, flags);
}

ssize_t flux::system_call::send_file(int to, int from, off_t &offset, std::size_t count) noexcept
{
    return ::sendfile(to, from, &offset, count);
}

int flux::system_call::accept(int listener, sockaddr *peer, socklen_t *size, int flags) noexcept
{
    return ::accept4(listener, peer, size, flags);
}

int flux::system_call::connect(int socket, const sockaddr *to, socklen_t size) noexcept
{
    return ::connect(socket, to, size);
}

int flux::system_call::wait(int epoll, std::span<epoll_event> into, const timespec *longest) noexcept
{
    return ::epoll_pwait2(epoll, into.data(), static_cast<int>(into.size()), longest, nullptr);
}
