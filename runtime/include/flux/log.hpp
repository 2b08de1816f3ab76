/// \file
/// The log: messages of the server and its nodes, as lines on standard error.
///
/// Standard error may be a slow disk, or a pipe that nothing reads for a while, and a loop must not wait for that. So
/// each thread puts its messages into its own ring buffer (`log_ring.hpp`), and one thread writes the lines of all
/// rings, ordered by time. When a ring is full, lines are dropped, and the log says how many. Before the process ends,
/// because it returns, exits or crashes, the remaining lines are written; if standard error accepts nothing for two
/// seconds, the process ends without writing them.
///
/// A child process that a node forks has no such thread: its lines are written at once.
///
/// The writing thread runs as long as the server does. Before and after that, each message is written by the thread
/// that logs it, which waits for standard error for two seconds at most.
#pragma once

#include <cstdint>
#include <string_view>

namespace flux {

/// For nodes: logs a line with the name of the node that runs, `: `, and the text; outside of flows the text alone.
/// Formats as printf; a line is cut after a kilobyte. Never waits, and does not change `errno`. Must not be called
/// while a signal is handled.
__attribute__((format(printf, 1, 2))) void log(const char *format, ...) noexcept;

/// For nodes that write a log of their own, one line for each request: logs these lines as they are. Never waits: they
/// are left out, and counted, where there is no room for them. They have up to 3,968 bytes.
void log_lines(std::string_view text) noexcept;

// For the runtime.

/// As `log`, but the line begins with `flux: `.
__attribute__((format(printf, 1, 2))) void log_line(const char *format, ...) noexcept;

/// As above, at most once a second, for lines that could be repeated very often: the next line says how many were left
/// out.
__attribute__((format(printf, 1, 2))) void log_rarely(const char *format, ...) noexcept;

/// As above, at most once a second for each `what`. (If there are many, two of them may have to share a second.)
__attribute__((format(printf, 2, 3))) void log_rarely_each(std::uint64_t what, const char *format, ...) noexcept;

/// Logs a text of many lines as it is, however long, and waits while the ring is full.
void log_text(std::string_view text) noexcept;

/// Writes the text directly, after everything that has been logged: for a signal that ends the process.
void log_last_words(std::string_view text) noexcept;

/// Starts the thread that writes the log. Throws `std::system_error`.
void start_log();

/// Ends that thread when everything that was logged has been written; does nothing if there is none.
void finish_log() noexcept;

} // namespace flux
