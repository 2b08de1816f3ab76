#include "flux/log.hpp"

#include "flux/moment.hpp"

#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <optional>
#include <unistd.h>
#include <utility>

namespace flux {
namespace {

constexpr std::size_t longest_line = 1024;

// Gives the length of the text, without its end; `line` has room for one character more.
std::size_t format_line(char *line, const char *format, std::va_list values) noexcept
{
    constexpr char mark[] = "flux: ";
    constexpr std::size_t marked = sizeof mark - 1;
    std::memcpy(line, mark, marked);
    const int length = std::vsnprintf(line + marked, longest_line - marked, format, values);
    const std::size_t text = length < 0 ? 0 : static_cast<std::size_t>(length);
    return marked + std::min(text, longest_line - marked - 1);
}

void write_line(char *line, std::size_t length) noexcept
{
    line[length] = '\n';
    // If standard error is closed there is nobody left to tell.
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, length + 1);
}

// The turn of a line that is said rarely: how many were left out before it, or nothing when it is left out too.
std::optional<unsigned> take_turn() noexcept
{
    static std::mutex turns;
    static moment next;
    static unsigned left_out = 0;
    const moment now = clock::now();
    const std::lock_guard hold(turns);
    if (now < next) {
        ++left_out;
        return std::nullopt;
    }
    next = now + std::chrono::seconds(1);
    return std::exchange(left_out, 0);
}

} // namespace

void log_line(const char *format, ...) noexcept
{
    char line[longest_line + 1];
    std::va_list values;
    va_start(values, format);
    write_line(line, format_line(line, format, values));
    va_end(values);
}

void log_rarely(const char *format, ...) noexcept
{
    const std::optional<unsigned> left_out = take_turn();
    if (!left_out) {
        return;
    }
    char line[longest_line + 1];
    std::va_list values;
    va_start(values, format);
    std::size_t length = format_line(line, format, values);
    va_end(values);
    if (*left_out != 0) {
        const int more =
            std::snprintf(line + length, longest_line - length, " (and %u such lines before it)", *left_out);
        length = std::min(length + static_cast<std::size_t>(std::max(more, 0)), longest_line - 1);
    }
    write_line(line, length);
}

} // namespace flux
