/// \file
/// Signals: how the server is told to end, and how it wakes a source that waits for the world.
///
/// SIGTERM and SIGINT ask for an orderly end; the second one ends the process at once. Node code sees no interrupted
/// call because of them: Linux gives them to the main thread, and what can be restarted is. SIGPIPE is caught by a
/// function that does nothing: the write fails with EPIPE, and the programs that nodes start do not inherit that, as
/// they would an ignored signal.
///
/// A source may wait in any system call of its component, so it can be woken only by a signal that interrupts the call
/// for good: SIGURG, which nobody else minds, as it is ignored where it is not caught.
#pragma once

#include "flux/moment.hpp"

#include <pthread.h>

namespace flux {

/// Catches SIGTERM, SIGINT and SIGPIPE from now on. One of the first two that was ignored before, as by nohup or for a
/// background job, stays so.
void catch_signals() noexcept;

/// Waits until the process is told to end, which gives the number of the signal that did it; or until `other` can be
/// read, or until `until`, which gives 0.
int wait_for_end(int other = -1, moment until = never) noexcept;

/// Makes `interrupt` work; called once, when sources are to stop.
void allow_interrupts() noexcept;

/// Interrupts the system call that the thread waits in, if it waits in one now.
void interrupt(pthread_t thread) noexcept;

} // namespace flux
