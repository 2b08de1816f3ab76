#include "flux/calls/file_calls.hpp"

#include "flux/calls/caught_call.hpp"
#include "flux/calls/file_kind.hpp"
#include "flux/event/handed_over.hpp"

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <mqueue.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace flux::calls {
namespace {

template <class Call>
auto beside(lasting how, Call call) noexcept
{
    return handed_over(*resident::running(), how, call);
}

template <class Call>
auto beside_until_interrupted(Call call) noexcept
{
    return handed_over_interruptible(*resident::running(), call);
}

/// What is known of a file's name without waiting for a disk or a server (openat2(2), RESOLVE_CACHED).
enum class known_file : unsigned char { unknown, waits_for_peers, at_hand };

known_file look_up(int folder, const char *path, bool follows) noexcept
{
    open_how how{};
    how.flags = static_cast<unsigned>(O_PATH | O_CLOEXEC | (follows ? 0 : O_NOFOLLOW));
    how.resolve = RESOLVE_CACHED;
    const int before = errno;
    const auto found = static_cast<int>(syscall(SYS_openat2, folder, path, &how, sizeof how));
    if (found < 0) {
        errno = before;
        return known_file::unknown;
    }
    struct stat kind = {};
    syscall(SYS_newfstatat, found, "", &kind, AT_EMPTY_PATH);
    syscall(SYS_close, found);
    errno = before;
    return S_ISFIFO(kind.st_mode)                            ? known_file::waits_for_peers
           : S_ISREG(kind.st_mode) || S_ISDIR(kind.st_mode) ? known_file::at_hand
                                                             : known_file::unknown;
}

/// Opens a file: `call()` does, on a thread that may wait.
template <class Call>
auto open_as_fiber(int folder, const char *path, int flags, Call call) noexcept
{
    const known_file known =
        (flags & (O_PATH | O_NOFOLLOW)) != 0 ? known_file::unknown : look_up(folder, path, true);
    if (known == known_file::waits_for_peers && (flags & O_NONBLOCK) == 0) {
        return beside_until_interrupted(call);
    }
    const bool changes = (flags & (O_TRUNC | O_CREAT)) != 0;
    const int opened = known == known_file::at_hand && !changes ? call() : beside(lasting::ends_by_itself, call);
    stream_guess::forget(opened); // the number may have been closed by a call that is not caught
    return opened;
}

template <class Call>
int stat_as_fiber(int folder, const char *path, bool follows, Call call) noexcept
{
    return look_up(folder, path, follows) != known_file::unknown ? call() : beside(lasting::ends_by_itself, call);
}

} // namespace
} // namespace flux::calls

using namespace flux::calls;
using flux::lasting;

// The mode is there where the flags ask for it; elsewhere it is whatever the register has, and is not looked at.
FLUX_CATCH(int, open, const char *path, int flags, mode_t mode)
{
    return on_loop() ? open_as_fiber(AT_FDCWD, path, flags, [=] { return next_open(path, flags, mode); })
                      : next_open(path, flags, mode);
}

FLUX_CATCH(int, open64, const char *path, int flags, mode_t mode)
{
    return on_loop() ? open_as_fiber(AT_FDCWD, path, flags, [=] { return next_open64(path, flags, mode); })
                      : next_open64(path, flags, mode);
}

FLUX_CATCH(int, openat, int folder, const char *path, int flags, mode_t mode)
{
    return on_loop() ? open_as_fiber(folder, path, flags, [=] { return next_openat(folder, path, flags, mode); })
                      : next_openat(folder, path, flags, mode);
}

FLUX_CATCH(int, openat64, int folder, const char *path, int flags, mode_t mode)
{
    return on_loop() ? open_as_fiber(folder, path, flags, [=] { return next_openat64(folder, path, flags, mode); })
                      : next_openat64(folder, path, flags, mode);
}

// Without a mode, where the compiler has seen that none is needed (_FORTIFY_SOURCE).
FLUX_CATCH(int, __open_2, const char *path, int flags)
{
    return on_loop() ? open_as_fiber(AT_FDCWD, path, flags, [=] { return next___open_2(path, flags); })
                     : next___open_2(path, flags);
}

FLUX_CATCH(int, __open64_2, const char *path, int flags)
{
    return on_loop() ? open_as_fiber(AT_FDCWD, path, flags, [=] { return next___open64_2(path, flags); })
                     : next___open64_2(path, flags);
}

FLUX_CATCH(int, __openat_2, int folder, const char *path, int flags)
{
    return on_loop() ? open_as_fiber(folder, path, flags, [=] { return next___openat_2(folder, path, flags); })
                     : next___openat_2(folder, path, flags);
}

FLUX_CATCH(int, stat, const char *path, struct stat *into)
{
    return on_loop() ? stat_as_fiber(AT_FDCWD, path, true, [=] { return next_stat(path, into); })
                      : next_stat(path, into);
}

FLUX_CATCH(int, stat64, const char *path, struct stat64 *into)
{
    return on_loop() ? stat_as_fiber(AT_FDCWD, path, true, [=] { return next_stat64(path, into); })
                      : next_stat64(path, into);
}

FLUX_CATCH(int, lstat, const char *path, struct stat *into)
{
    return on_loop() ? stat_as_fiber(AT_FDCWD, path, false, [=] { return next_lstat(path, into); })
                      : next_lstat(path, into);
}

FLUX_CATCH(int, lstat64, const char *path, struct stat64 *into)
{
    return on_loop() ? stat_as_fiber(AT_FDCWD, path, false, [=] { return next_lstat64(path, into); })
                      : next_lstat64(path, into);
}

FLUX_CATCH(int, fstatat, int folder, const char *path, struct stat *into, int flags)
{
    return on_loop() ? stat_as_fiber(folder, path, (flags & AT_SYMLINK_NOFOLLOW) == 0,
                                      [=] { return next_fstatat(folder, path, into, flags); })
                      : next_fstatat(folder, path, into, flags);
}

FLUX_CATCH(int, access, const char *path, int how)
{
    return on_loop() ? stat_as_fiber(AT_FDCWD, path, true, [=] { return next_access(path, how); })
                      : next_access(path, how);
}

/// A call that always goes to another thread: `FLUX_BESIDE(result, name, (parameters), (arguments))`.
#define FLUX_BARE(...) __VA_ARGS__
#define FLUX_BESIDE(result, name, parameters, arguments)                                                               \
    FLUX_CATCH(result, name, FLUX_BARE parameters)                                                                     \
    {                                                                                                                  \
        return on_loop() ? beside(lasting::ends_by_itself, [=] { return next_##name arguments; })                     \
                          : next_##name arguments;                                                                     \
    }

FLUX_BESIDE(int, fsync, (int file), (file))
FLUX_BESIDE(int, fdatasync, (int file), (file))
FLUX_BESIDE(int, syncfs, (int file), (file))
FLUX_BESIDE(int, ftruncate, (int file, off_t size), (file, size))
FLUX_BESIDE(int, truncate, (const char *path, off_t size), (path, size))
FLUX_BESIDE(int, unlink, (const char *path), (path))
FLUX_BESIDE(int, rename, (const char *from, const char *to), (from, to))
FLUX_BESIDE(int, mkdir, (const char *path, mode_t mode), (path, mode))
FLUX_BESIDE(int, rmdir, (const char *path), (path))
FLUX_BESIDE(DIR *, opendir, (const char *path), (path))
FLUX_BESIDE(char *, realpath, (const char *path, char *into), (path, into))

FLUX_CATCH(int, flock, int file, int operation)
{
    if (!on_loop() || (operation & LOCK_NB) != 0) {
        return next_flock(file, operation);
    }
    const int result = next_flock(file, operation | LOCK_NB);
    return result == 0 || errno != EWOULDBLOCK ? result
                                               : beside_until_interrupted([=] { return next_flock(file, operation); });
}

namespace {

// F_SETLKW as F_SETLK, and that of open file descriptions likewise; 0 where it is neither.
int tried_instead_of(int operation) noexcept
{
    return operation == F_SETLKW ? F_SETLK : operation == F_OFD_SETLKW ? F_OFD_SETLK : 0;
}

template <class Next>
int control_as_fiber(const Next &next, int file, int operation, long argument) noexcept
{
    const int tried = tried_instead_of(operation);
    const int result = next(file, tried, argument);
    const bool is_taken = result != 0 && (errno == EAGAIN || errno == EACCES);
    return is_taken ? beside_until_interrupted([&] { return next(file, operation, argument); }) : result;
}

} // namespace

FLUX_CATCH(int, fcntl, int file, int operation, long argument)
{
    return tried_instead_of(operation) != 0 && on_loop() ? control_as_fiber(next_fcntl, file, operation, argument)
                                                          : next_fcntl(file, operation, argument);
}

FLUX_CATCH(int, fcntl64, int file, int operation, long argument)
{
    return tried_instead_of(operation) != 0 && on_loop() ? control_as_fiber(next_fcntl64, file, operation, argument)
                                                          : next_fcntl64(file, operation, argument);
}

FLUX_CATCH(int, lockf, int file, int operation, off_t size)
{
    if (!on_loop() || operation != F_LOCK) {
        return next_lockf(file, operation, size);
    }
    const int result = next_lockf(file, F_TLOCK, size);
    const bool is_taken = result != 0 && (errno == EAGAIN || errno == EACCES);
    return is_taken ? beside_until_interrupted([=] { return next_lockf(file, operation, size); }) : result;
}

namespace {

// With a time that has passed a queue of messages says ETIMEDOUT where it would wait.
constexpr std::timespec passed{0, 0};

template <class Try, class Wait>
auto on_queue(Try try_it, Wait wait) noexcept
{
    const auto result = try_it();
    return result != -1 || errno != ETIMEDOUT ? result : beside_until_interrupted(wait);
}

} // namespace

FLUX_CATCH(ssize_t, mq_timedreceive, mqd_t from, char *into, std::size_t size, unsigned *priority,
           const std::timespec *time)
{
    return on_loop() ? on_queue([=] { return next_mq_timedreceive(from, into, size, priority, &passed); },
                                 [=] { return next_mq_timedreceive(from, into, size, priority, time); })
                      : next_mq_timedreceive(from, into, size, priority, time);
}

FLUX_CATCH(ssize_t, mq_receive, mqd_t from, char *into, std::size_t size, unsigned *priority)
{
    return on_loop() ? on_queue([=] { return next_mq_timedreceive(from, into, size, priority, &passed); },
                                 [=] { return next_mq_receive(from, into, size, priority); })
                      : next_mq_receive(from, into, size, priority);
}

FLUX_CATCH(int, mq_timedsend, mqd_t to, const char *from, std::size_t size, unsigned priority,
           const std::timespec *time)
{
    return on_loop() ? on_queue([=] { return next_mq_timedsend(to, from, size, priority, &passed); },
                                 [=] { return next_mq_timedsend(to, from, size, priority, time); })
                      : next_mq_timedsend(to, from, size, priority, time);
}

FLUX_CATCH(int, mq_send, mqd_t to, const char *from, std::size_t size, unsigned priority)
{
    return on_loop() ? on_queue([=] { return next_mq_timedsend(to, from, size, priority, &passed); },
                                 [=] { return next_mq_send(to, from, size, priority); })
                      : next_mq_send(to, from, size, priority);
}
