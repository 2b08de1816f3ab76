/// \file
/// The system calls of each message, as such. The C library's functions of these names are points at which a thread can
/// be cancelled (pthreads(7)), which nobody does here: each costs two locked operations and some ten instructions more.
///
/// Under a sanitizer they are the C library's, as it has to see what they read and write. All are weak: a test may have
/// others, of a kernel that is not there.
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
/// As `epoll_pwait2` without a signal mask.
int wait(int epoll, std::span<epoll_event> into, const timespec *longest) noexcept;

} // namespace flux::system_call
