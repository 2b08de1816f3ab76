/// \file
/// The server: all of a process but what the nodes do. It reads the options, starts the sources, waits until it is told
/// to end, lets the flows end, and reports.
#pragma once

namespace flux {

struct program;

/// Runs the server until SIGTERM or SIGINT. Gives the exit status of the process: 0 if every flow ended by itself, 1 if
/// some were cancelled or the server could not start, 2 if the options are wrong (which it says on standard error).
///
/// Options of the runtime (`options.hpp`) and of the program (`program_option.hpp`) are taken out of the arguments; if
/// the program defines `void init(int, char **)`, it is called with the rest before any source starts.
int serve(const program &served, int argc, char **argv);

} // namespace flux
