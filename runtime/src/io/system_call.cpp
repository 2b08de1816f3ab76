#include "flux/io/system_call.hpp"

#include "flux/waiting/sanitizer.hpp"

#include <sys/syscall.h>
#include <unistd.h>

namespace flux::system_call {
namespace {

constexpr bool by_library = address_sanitizer || thread_sanitizer;

} // namespace

[[gnu::weak]] ssize_t receive(int from, std::span<std::byte> into, int flags) noexcept
{
    return by_library ? ::recv(from, into.data(), into.size(), flags)
                      : ::syscall(SYS_recvfrom, from, into.data(), into.size(), flags, nullptr, nullptr);
}

[[gnu::weak]] ssize_t send(int to, std::span<const std::byte> bytes, int flags) noexcept
{
    return by_library ? ::send(to, bytes.data(), bytes.size(), flags)
                      : ::syscall(SYS_sendto, to, bytes.data(), bytes.size(), flags, nullptr, 0);
}

[[gnu::weak]] ssize_t send_parts(int to, const msghdr &message, int flags) noexcept
{
    return by_library ? ::sendmsg(to, &message, flags) : ::syscall(SYS_sendmsg, to, &message, flags);
}

[[gnu::weak]] int wait(int epoll, std::span<epoll_event> into, const timespec *longest) noexcept
{
    const auto most = static_cast<int>(into.size());
    return by_library ? ::epoll_pwait2(epoll, into.data(), most, longest, nullptr)
                      : static_cast<int>(::syscall(SYS_epoll_pwait2, epoll, into.data(), most, longest, nullptr, 0));
}

} // namespace flux::system_call
