/// \file
/// The server: all of a process but what the nodes do. It reads the options, starts the sources, waits until it is
/// asked to end, lets the flows end, and reports.
#pragma once

#include "flux/server/init.hpp"

namespace flux {

struct program;

/// Runs the server until SIGTERM or SIGINT. Gives the exit status of the process: 0 if every flow ended by itself, 1 if
/// some were cancelled or the server could not start, 2 if the options are wrong (which it says on standard error).
///
/// Options of the runtime (`options.hpp`) and of the program (`program_option.hpp`) are taken out of the arguments.
/// Then, before any source starts, the program's own `init` is called, by `start` where it takes the program's options;
/// it may refuse to start, which is said. After all flows have ended, `fini` is called (`init.hpp`).
int serve(const program &served, int argc, char **argv, start_function start = nullptr);

} // namespace flux
