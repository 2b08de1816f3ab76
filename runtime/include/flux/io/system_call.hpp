/// \file
/// The system calls that every message or every connection needs, without the C library's wrappers. Those are
/// cancellation points (pthreads(7)), a feature that is not used here, which costs two locked operations and some ten
/// instructions for each call.
///
/// Under a sanitizer the C library's functions are used, because it must see what they read and write. All functions
/// here are weak symbols: a test may replace them, for example to simulate a kernel.
#pragma once

#include <cstddef>
#include <span>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/types.h>

namespace flux::system_call {

/// As `recv`.
ssize_t receive(int from, std::span<std::byte> into, int flags) noexcept;
/// As `send`.
ssize_t send(int to, std::span<const std::byte> bytes, int flags) noexcept;
/// As `sendmsg`.
ssize_t send_parts(int to, const msghdr &message, int flags) noexcept;
/// As `sendfile`.
ssize_t send_file(int to, int from, off_t &offset, std::size_t count) noexcept;
/// As `accept4`.
int accept(int listener, sockaddr *peer, socklen_t *size, int flags) noexcept;
/// As `epoll_pwait2` without a signal mask.
int wait(int epoll, std::span<epoll_event> into, const timespec *longest) noexcept;

} // namespace flux::system_call
