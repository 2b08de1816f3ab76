/// \file
/// What becomes of each call of the C library that may block, in code on an event loop that knows nothing of Flux: the
/// one table. The runtime tests itself against it at its start; `docs/blocking-calls.md` has it, generated; and
/// `flux doctor` reads it.
///
/// A row is `call(name, fate, "note")`, on one line. What `parks`, is `handed_over`, `fiber_owned` or `watched` is
/// caught: `FLUX_CATCH` defines it (`caught_call.hpp`). The rest is not.
#pragma once

#include "flux/calls/file_calls.hpp"
#include "flux/calls/futex_calls.hpp"
#include "flux/calls/lock_calls.hpp"
#include "flux/calls/name_calls.hpp"
#include "flux/calls/once_calls.hpp"
#include "flux/calls/process_calls.hpp"
#include "flux/calls/stdio_calls.hpp"
#include "flux/calls/uncaught_calls.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace flux::calls {

/// What becomes of a call.
enum class fate : std::uint8_t {
    /// The fiber parks until the kernel has what it waits for, and the loop goes on.
    parks,
    /// A thread beside the loop makes the call, where it may block, and the fiber waits for that.
    handed_over,
    /// A lock, or the like: the fiber owns it, and parks where it is taken.
    fiber_owned,
    /// It goes straight on, after something that the runtime has to do or to know.
    watched,
    /// It goes straight on: it does not block for long, or another row says what wakes it.
    straight,
    /// It cannot be caught, and holds up the loop: the node is to be `blocking`.
    uncaught,
};

/// One call.
struct row {
    const char *name;
    fate becomes;
    const char *note;
    /// The function that catches it; null where none does.
    void (*caught_by)();
};

/// All of them, in the order of the table.
std::span<const row> table() noexcept;

/// Why the calls are not caught in this process, and what to do; empty where they are. For the start of a server.
std::string why_not_caught();

} // namespace flux::calls

#define FLUX_CALLS(call) \
    call(read, parks, "of files on disks, what is not in memory is handed over") \
    call(__read_chk, parks, "as read") \
    call(readv, parks, "as read") \
    call(preadv2, parks, "as read, or as pread") \
    call(preadv64v2, parks, "as preadv2") \
    call(eventfd_read, parks, "") \
    call(recv, parks, "MSG_WAITALL too; with MSG_PEEK besides it is handed over") \
    call(__recv_chk, parks, "as recv") \
    call(recvfrom, parks, "as recv") \
    call(__recvfrom_chk, parks, "as recv") \
    call(recvmsg, parks, "as recv") \
    call(recvmmsg, parks, "the time limit ends the wait") \
    call(write, parks, "as read; to files on disks it is handed over") \
    call(writev, parks, "as write") \
    call(pwritev2, parks, "as write, or as pwrite") \
    call(pwritev64v2, parks, "as pwritev2") \
    call(send, parks, "") \
    call(sendto, parks, "") \
    call(sendmsg, parks, "") \
    call(sendmmsg, parks, "") \
    call(sendfile, parks, "to a socket that blocks: by way of memory") \
    call(sendfile64, parks, "as sendfile") \
    call(splice, parks, "until both ends are ready; then it is handed over") \
    call(tee, parks, "as splice") \
    call(accept, parks, "a listener that threads or other processes share should have O_NONBLOCK") \
    call(accept4, parks, "as accept") \
    call(connect, parks, "by io_uring; where that is refused it is handed over") \
    call(poll, parks, "") \
    call(__poll_chk, parks, "as poll") \
    call(ppoll, parks, "signals come only while the kernel is asked") \
    call(__ppoll_chk, parks, "as ppoll") \
    call(select, parks, "") \
    call(pselect, parks, "as ppoll") \
    call(epoll_wait, parks, "") \
    call(epoll_pwait, parks, "as ppoll") \
    call(epoll_pwait2, parks, "as ppoll") \
    call(nanosleep, parks, "at most some milliseconds longer") \
    call(clock_nanosleep, parks, "as nanosleep; by a clock of processor time it goes straight on") \
    call(usleep, parks, "as nanosleep") \
    call(sleep, parks, "as nanosleep") \
    call(pread, handed_over, "what is in memory is read at once") \
    call(pread64, handed_over, "as pread") \
    call(__pread_chk, handed_over, "as pread") \
    call(__pread64_chk, handed_over, "as pread") \
    call(preadv, handed_over, "as pread") \
    call(preadv64, handed_over, "as pread") \
    call(pwrite, handed_over, "") \
    call(pwrite64, handed_over, "") \
    call(pwritev, handed_over, "") \
    call(pwritev64, handed_over, "") \
    call(close, watched, "wakes those that wait for the descriptor: their calls fail with EBADF") \
    call(dup2, watched, "as close, of what it replaces") \
    call(dup3, watched, "as dup2") \
    call(close_range, watched, "as close") \
    call(closefrom, watched, "as close") \
    call(dlopen, watched, "without RTLD_DEEPBIND, with which a library would not find these") \
    call(pthread_key_create, watched, "the keys of OpenSSL's libcrypto are those of fibers") \
    call(pthread_key_delete, watched, "as pthread_key_create") \
    call(shutdown, straight, "the kernel wakes those that wait") \
    call(epoll_ctl, straight, "does not block") \
    FLUX_LOCK_CALLS(call) \
    FLUX_ONCE_CALLS(call) \
    FLUX_FUTEX_CALLS(call) \
    FLUX_FILE_CALLS(call) \
    FLUX_NAME_CALLS(call) \
    FLUX_PROCESS_CALLS(call) \
    FLUX_STDIO_CALLS(call) \
    FLUX_UNCAUGHT_CALLS(call)
