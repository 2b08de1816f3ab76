/// \file
/// What the server itself has to say, which is little: a line each on standard error, marked as Flux's.
#pragma once

namespace flux {

/// Writes `flux: `, the text and an end of line in one system call. Formats as printf; what exceeds a kilobyte is cut.
__attribute__((format(printf, 1, 2))) void log_line(const char *format, ...) noexcept;

/// As above, at most once a second, for what could be said again and again: says how many lines were left out since.
__attribute__((format(printf, 1, 2))) void log_rarely(const char *format, ...) noexcept;

} // namespace flux
