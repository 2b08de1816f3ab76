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

/// Logs the name of the node that runs, `: `, the text and an end of line: for nodes. Outside of flows, the text alone.
/// Formats as printf; what exceeds a kilobyte is cut. Waits for nobody, and leaves `errno` as it is. Not for what runs
/// in a signal.
__attribute__((format(printf, 1, 2))) void log(const char *format, ...) noexcept;

// For the runtime.

/// As above, but what stands first is `flux: `.
__attribute__((format(printf, 1, 2))) void log_line(const char *format, ...) noexcept;

/// As above, at most once a second, for what could be said again and again: says how many lines were left out since.
__attribute__((format(printf, 1, 2))) void log_rarely(const char *format, ...) noexcept;

/// As above, at most once a second for each `what`. (Of many, two may have to share a second.)
__attribute__((format(printf, 2, 3))) void log_rarely_each(std::uint64_t what, const char *format, ...) noexcept;

/// Logs a text of many lines as it is, however long, and waits where the ring is full.
void log_text(std::string_view text) noexcept;

/// Writes the text itself, after all that has been logged: for what runs in a signal that ends the process.
void log_last_words(std::string_view text) noexcept;

/// From now on a thread of the log's own writes. Throws `std::system_error`.
void start_log();

/// Ends that thread, when all that has been logged is written; does nothing where there is none.
void finish_log() noexcept;

} // namespace flux
