/// \file
/// The log: what the server and its nodes have to say, a line each, on standard error.
///
/// Standard error may be a pipe whose other end nobody reads for a while, or a slow disk, and a loop cannot wait for
/// that. So who says something puts it into a ring of its thread (`log_ring.hpp`), and a thread of the log's own writes
/// what is in the rings, whole lines, in the order of time. A ring that is full leaves lines out; how many is said in
/// their place. At the end of the process, whether it returns, exits or crashes, what has been logged is written first,
/// as long as somebody takes it: after two seconds in which nothing was taken the process ends all the same.
///
/// A process that a node forks off has no such thread: what it says is written at once.
///
/// That thread runs while the server does. Before and after, whoever says something empties the rings at once, and
/// waits for it at most as long.
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
