#include "flux/calls/stdio_calls.hpp"

#include "flux/calls/caught_call.hpp"
#include "flux/event/handed_over.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace flux::calls {
namespace {

/// How a stream is locked (sysdeps/nptl/stdio-lock.h, `_IO_lock_t`).
struct stream_lock {
    int is_taken;
    int times;
    void *owner;
};

/// The lock of a stream, if it was free or the calling thread's, to the end of the block.
class tried_stream
{
  public:
    explicit tried_stream(std::FILE *of) noexcept : of_(of), is_ours_(ftrylockfile(of) == 0) {}
    ~tried_stream()
    {
        if (is_ours_) {
            funlockfile(of_);
        }
    }
    tried_stream(const tried_stream &) = delete;
    tried_stream &operator=(const tried_stream &) = delete;

    bool is_ours() const noexcept { return is_ours_; }

    /// Whether the program has locked it (flockfile(3)): then no other thread can use it.
    bool was_ours() const noexcept { return is_ours_ && static_cast<const stream_lock *>(of_->_lock)->times > 1; }

  private:
    std::FILE *const of_;
    const bool is_ours_;
};

/// What a call wants of a stream's buffer.
struct wish {
    /// POLLIN to read, POLLOUT to write.
    short events;
    /// So many bytes; or, where they read a line, less if one ends before.
    std::size_t bytes;
    /// What the line ends with; -1 where none is read.
    int end_of_line = -1;
};

bool buffer_serves(const std::FILE *stream, const wish &wanted) noexcept
{
    if (wanted.events == POLLOUT) {
        return static_cast<std::size_t>(stream->_IO_write_end - stream->_IO_write_ptr) >= wanted.bytes;
    }
    const auto there = static_cast<std::size_t>(stream->_IO_read_end - stream->_IO_read_ptr);
    return there >= wanted.bytes ||
           (wanted.end_of_line >= 0 && there != 0 &&
            std::memchr(stream->_IO_read_ptr, wanted.end_of_line, there) != nullptr);
}

/// Whether a call ends by itself, or waits for others. What a pipe or the like can take at once ends by itself, and
/// here.
enum class medium : unsigned char { here, disk, others };

medium medium_of(std::FILE *stream, const wish &wanted) noexcept
{
    const int number = fileno(stream);
    struct stat kind = {};
    if (number < 0 || fstat(number, &kind) != 0) {
        return medium::here; // memory, or functions of the program
    }
    if (S_ISREG(kind.st_mode)) {
        return medium::disk;
    }
    constexpr std::size_t at_once = 4096; // PIPE_BUF
    pollfd now{number, POLLOUT, 0};
    constexpr std::timespec no_time{};
    const bool takes_it = wanted.events == POLLOUT && wanted.bytes <= at_once &&
                          syscall(SYS_ppoll, &now, 1, &no_time, nullptr, std::size_t{0}) == 1;
    return takes_it ? medium::here : medium::others;
}

/// What the buffer does not serve.
template <class Call>
auto on_medium(std::FILE *stream, const wish &wanted, Call call) noexcept
{
    const int before = errno;
    const medium on = medium_of(stream, wanted);
    errno = before;
    return on == medium::here ? call()
                              : handed_over(*resident::running(),
                                            on == medium::disk ? lasting::ends_by_itself : lasting::waits_for_others,
                                            call);
}

template <class Call>
auto on_stream(std::FILE *stream, const wish &wanted, Call call) noexcept
{
    {
        const tried_stream tried(stream);
        if (tried.was_ours() || (tried.is_ours() && buffer_serves(stream, wanted))) {
            return call();
        }
    }
    return on_medium(stream, wanted, call);
}

} // namespace
} // namespace flux::calls

using namespace flux::calls;
using flux::lasting;

FLUX_CATCH(std::FILE *, fopen, const char *path, const char *how)
{
    return on_loop() ? flux::handed_over(*flux::resident::running(), lasting::ends_by_itself,
                                          [=] { return next_fopen(path, how); })
                      : next_fopen(path, how);
}

FLUX_CATCH(std::FILE *, fopen64, const char *path, const char *how)
{
    return on_loop() ? flux::handed_over(*flux::resident::running(), lasting::ends_by_itself,
                                          [=] { return next_fopen64(path, how); })
                      : next_fopen64(path, how);
}

FLUX_CATCH(int, fclose, std::FILE *stream)
{
    // With nothing to write it only closes. Nobody else may use it any more.
    return on_loop() && stream->_IO_write_ptr != stream->_IO_write_base
               ? on_medium(stream, {POLLOUT, ~std::size_t{0}}, [=] { return next_fclose(stream); })
               : next_fclose(stream);
}

FLUX_CATCH(int, fflush, std::FILE *stream)
{
    if (!on_loop() || (stream != nullptr && stream->_IO_write_ptr == stream->_IO_write_base)) {
        return next_fflush(stream);
    }
    const auto call = [=] { return next_fflush(stream); };
    const auto waiting = [](const std::FILE *of) {
        return static_cast<std::size_t>(of->_IO_write_ptr - of->_IO_write_base);
    };
    return stream == nullptr ? flux::handed_over(*flux::resident::running(), lasting::waits_for_others, call)
                             : on_stream(stream, {POLLOUT, std::max<std::size_t>(waiting(stream), 1)}, call);
}

FLUX_CATCH(std::size_t, fread, void *into, std::size_t size, std::size_t count, std::FILE *stream)
{
    return on_loop() ? on_stream(stream, {POLLIN, size * count}, [=] { return next_fread(into, size, count, stream); })
                      : next_fread(into, size, count, stream);
}

FLUX_CATCH(int, fgetc, std::FILE *stream)
{
    return on_loop() ? on_stream(stream, {POLLIN, 1}, [=] { return next_fgetc(stream); }) : next_fgetc(stream);
}

FLUX_CATCH(int, getc, std::FILE *stream)
{
    return on_loop() ? on_stream(stream, {POLLIN, 1}, [=] { return next_getc(stream); }) : next_getc(stream);
}

FLUX_CATCH(char *, fgets, char *into, int size, std::FILE *stream)
{
    return on_loop() && size > 1
               ? on_stream(stream, {POLLIN, static_cast<std::size_t>(size) - 1, '\n'},
                           [=] { return next_fgets(into, size, stream); })
               : next_fgets(into, size, stream);
}

// Where the compiler knows how much room there is (_FORTIFY_SOURCE).
FLUX_CATCH(std::size_t, __fread_chk, void *into, std::size_t room, std::size_t size, std::size_t count,
           std::FILE *stream)
{
    return on_loop() ? on_stream(stream, {POLLIN, size * count},
                                 [=] { return next___fread_chk(into, room, size, count, stream); })
                     : next___fread_chk(into, room, size, count, stream);
}

FLUX_CATCH(char *, __fgets_chk, char *into, std::size_t room, int size, std::FILE *stream)
{
    return on_loop() && size > 1
               ? on_stream(stream, {POLLIN, static_cast<std::size_t>(size) - 1, '\n'},
                           [=] { return next___fgets_chk(into, room, size, stream); })
               : next___fgets_chk(into, room, size, stream);
}

FLUX_CATCH(ssize_t, getdelim, char **into, std::size_t *size, int end, std::FILE *stream)
{
    return on_loop() ? on_stream(stream, {POLLIN, ~std::size_t{0}, end},
                                  [=] { return next_getdelim(into, size, end, stream); })
                      : next_getdelim(into, size, end, stream);
}

FLUX_CATCH(ssize_t, getline, char **into, std::size_t *size, std::FILE *stream)
{
    return on_loop() ? on_stream(stream, {POLLIN, ~std::size_t{0}, '\n'},
                                  [=] { return next_getline(into, size, stream); })
                      : next_getline(into, size, stream);
}

FLUX_CATCH(std::size_t, fwrite, const void *from, std::size_t size, std::size_t count, std::FILE *stream)
{
    return on_loop() ? on_stream(stream, {POLLOUT, size * count},
                                  [=] { return next_fwrite(from, size, count, stream); })
                      : next_fwrite(from, size, count, stream);
}

FLUX_CATCH(int, fputs, const char *text, std::FILE *stream)
{
    return on_loop() ? on_stream(stream, {POLLOUT, std::strlen(text)}, [=] { return next_fputs(text, stream); })
                      : next_fputs(text, stream);
}

FLUX_CATCH(int, puts, const char *text)
{
    return on_loop() ? on_stream(stdout, {POLLOUT, std::strlen(text) + 1}, [=] { return next_puts(text); })
                      : next_puts(text);
}

FLUX_CATCH(int, fputc, int character, std::FILE *stream)
{
    return on_loop() ? on_stream(stream, {POLLOUT, 1}, [=] { return next_fputc(character, stream); })
                      : next_fputc(character, stream);
}

FLUX_CATCH(int, putc, int character, std::FILE *stream)
{
    return on_loop() ? on_stream(stream, {POLLOUT, 1}, [=] { return next_putc(character, stream); })
                      : next_putc(character, stream);
}

FLUX_CATCH(int, putchar, int character)
{
    return on_loop() ? on_stream(stdout, {POLLOUT, 1}, [=] { return next_putchar(character); })
                      : next_putchar(character);
}

namespace {

/// What printf(3) would print, at once: so its size is known, and the arguments are read on the fiber.
int print_as_fiber(std::FILE *stream, const char *format, std::va_list values) noexcept
{
    char *text = nullptr;
    const int size = vasprintf(&text, format, values);
    if (size < 0) {
        return size;
    }
    const auto length = static_cast<std::size_t>(size);
    const std::size_t written = fwrite(text, 1, length, stream);
    std::free(text);
    return written == length ? size : -1;
}

} // namespace

FLUX_CATCH(int, vfprintf, std::FILE *stream, const char *format, std::va_list values)
{
    return on_loop() ? print_as_fiber(stream, format, values) : next_vfprintf(stream, format, values);
}

FLUX_CATCH(int, vprintf, const char *format, std::va_list values)
{
    return on_loop() ? print_as_fiber(stdout, format, values) : next_vfprintf(stdout, format, values);
}

FLUX_CATCH(int, __vfprintf_chk, std::FILE *stream, int flag, const char *format, std::va_list values)
{
    return on_loop() ? print_as_fiber(stream, format, values) : next___vfprintf_chk(stream, flag, format, values);
}

FLUX_CATCH(int, __vprintf_chk, int flag, const char *format, std::va_list values)
{
    return on_loop() ? print_as_fiber(stdout, format, values) : next___vfprintf_chk(stdout, flag, format, values);
}

// With `...` they have no function behind them that could be called with the same arguments, but one with a va_list.
#define FLUX_CATCH_PRINT(name, stream, next, ...)                                                              \
    extern "C" FLUX_KEPT int flux_call_##name(__VA_ARGS__, ...);                                                       \
    extern "C" FLUX_KEPT __attribute__((alias("flux_call_" #name), visibility("default"))) int flux_symbol_##name(     \
        __VA_ARGS__, ...) __asm__(#name);                                                                              \
    extern "C" FLUX_UNINSTRUMENTED int flux_call_##name(__VA_ARGS__, ...)                                              \
    {                                                                                                                  \
        std::va_list values;                                                                                           \
        va_start(values, format);                                                                                      \
        const int size = on_loop() ? print_as_fiber(stream, format, values) : next;                                   \
        va_end(values);                                                                                                \
        return size;                                                                                                   \
    }

FLUX_CATCH_PRINT(printf, stdout, next_vfprintf(stdout, format, values), const char *format)
FLUX_CATCH_PRINT(fprintf, stream, next_vfprintf(stream, format, values), std::FILE *stream, const char *format)
FLUX_CATCH_PRINT(__printf_chk, stdout, next___vfprintf_chk(stdout, flag, format, values), int flag, const char *format)
FLUX_CATCH_PRINT(__fprintf_chk, stream, next___vfprintf_chk(stream, flag, format, values), std::FILE *stream,
                 int flag, const char *format)
