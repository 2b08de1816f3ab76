/// \file
/// Signals: how the server is asked to end, and how it wakes a source that waits for the world.
///
/// SIGTERM and SIGINT ask for an orderly end; the second one ends the process at once. Node code sees no interrupted
/// call because of them: Linux gives them to the main thread, and what can be restarted is. SIGPIPE is caught by a
/// function that does nothing: the write fails with EPIPE, and the programs that nodes start do not inherit that, as
/// they would an ignored signal.
///
/// A source may wait in any system call of its component, so it can be woken only by a signal that interrupts the call
/// for good: SIGURG, which nobody else minds, as it is ignored where it is not caught.
///
/// What a signal does is the process's, and so is what the function has that serves it. So a signal is caught as long
/// as any server of the process needs it, and each of them is notified; then what was done before is done again.
#pragma once

#include "flux/moment.hpp"

#include <pthread.h>

namespace flux {

/// SIGTERM, SIGINT and SIGPIPE are caught as long as there is one of these. One of the first two that was ignored
/// before, as by nohup or for a background job, stays so. What the program itself does on them meanwhile stays too.
class end_signals
{
  public:
    end_signals() noexcept;
    ~end_signals();
    end_signals(const end_signals &) = delete;
    end_signals &operator=(const end_signals &) = delete;

    /// Waits until the process is asked to end, which gives the number of the signal that did it; or until `other` can
    /// be read, or until `until`, which gives 0.
    int wait(int other = -1, moment until = never) const noexcept;
};

/// System calls can be interrupted as long as there is one of these.
class interrupts
{
  public:
    interrupts() noexcept;
    ~interrupts();
    interrupts(const interrupts &) = delete;
    interrupts &operator=(const interrupts &) = delete;

    /// Interrupts the system call that the thread waits in, if it waits in one now.
    void interrupt(pthread_t thread) const noexcept;
};

} // namespace flux
