#include "flux/io/system_call.hpp"

#include "flux/waiting/sanitizer.hpp"

#include <cerrno>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace flux::system_call {
namespace {

constexpr bool by_library = address_sanitizer || thread_sanitizer;

/// As `syscall`, which takes any number of arguments, and so has to move them all.
long call(long number, long first, long second, long third, long fourth, long fifth, long sixth) noexcept
{
#if defined(__x86_64__)
    // The registers are those of the x86-64 ABI (System V, Linux conventions, A.2.1).
    register long in_r10 asm("r10") = fourth;
    register long in_r8 asm("r8") = fifth;
    register long in_r9 asm("r9") = sixth;
    long result = number;
    asm volatile("syscall"
                 : "+a"(result)
                 : "D"(first), "S"(second), "d"(third), "r"(in_r10), "r"(in_r8), "r"(in_r9)
                 : "rcx", "r11", "memory");
    constexpr long most_errors = 4095;
    if (result < 0 && result >= -most_errors) {
        errno = static_cast<int>(-result);
        return -1;
    }
    return result;
#else
    return ::syscall(number, first, second, third, fourth, fifth, sixth);
#endif
}

long in_register(const void *address) noexcept
{
    return reinterpret_cast<long>(address);
}

} // namespace

[[gnu::weak]] ssize_t receive(int from, std::span<std::byte> into, int flags) noexcept
{
    return by_library ? ::recv(from, into.data(), into.size(), flags)
                      : call(SYS_recvfrom, from, in_register(into.data()), static_cast<long>(into.size()), flags, 0, 0);
}

[[gnu::weak]] ssize_t send(int to, std::span<const std::byte> bytes, int flags) noexcept
{
    return by_library ? ::send(to, bytes.data(), bytes.size(), flags)
                      : call(SYS_sendto, to, in_register(bytes.data()), static_cast<long>(bytes.size()), flags, 0, 0);
}

[[gnu::weak]] ssize_t send_parts(int to, const msghdr &message, int flags) noexcept
{
    return by_library ? ::sendmsg(to, &message, flags) : call(SYS_sendmsg, to, in_register(&message), flags, 0, 0, 0);
}

[[gnu::weak]] ssize_t send_file(int to, int from, off_t &offset, std::size_t count) noexcept
{
    return by_library ? ::sendfile(to, from, &offset, count)
                      : call(SYS_sendfile, to, from, in_register(&offset), static_cast<long>(count), 0, 0);
}

[[gnu::weak]] int accept(int listener, sockaddr *peer, socklen_t *size, int flags) noexcept
{
    return by_library
               ? ::accept4(listener, peer, size, flags)
               : static_cast<int>(call(SYS_accept4, listener, in_register(peer), in_register(size), flags, 0, 0));
}

[[gnu::weak]] int wait(int epoll, std::span<epoll_event> into, const timespec *longest) noexcept
{
    const auto most = static_cast<int>(into.size());
    if (by_library) {
        return ::epoll_pwait2(epoll, into.data(), most, longest, nullptr);
    }
    return static_cast<int>(
        call(SYS_epoll_pwait2, epoll, in_register(into.data()), most, in_register(longest), 0, 0));
}

} // namespace flux::system_call
