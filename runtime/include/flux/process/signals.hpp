/// \file
/// Signals: how the server is asked to end, and how it wakes a source that waits in a system call.
///
/// SIGTERM and SIGINT ask for an orderly end; the second one ends the process at once. They do not interrupt the calls
/// of node code: Linux delivers them to the main thread, and calls that can be restarted are. SIGPIPE is caught by a
/// function that does nothing. So the write fails with EPIPE, and programs that nodes start do not inherit this, as
/// they would inherit an ignored signal.
///
/// A source may wait in any system call of its component, so only a signal that interrupts the call can wake it. This
/// is SIGURG, which is otherwise unused, because it is ignored by default.
///
/// What happens on a signal belongs to the process, and so does the data for it. So a signal is caught as long as any
/// server of the process needs it, and each of these servers is notified; afterwards the previous action is restored.
#pragma once

#include "flux/moment.hpp"

#include <csignal>
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

/// No signal comes to the calling thread as long as there is one of these, nor ever to a thread that it starts
/// meanwhile. What runs in a signal may be the program's, and end the process: that waits for the runtime's own threads,
/// so it is not to run on one of them, not even before the first line of its function.
class signals_blocked
{
  public:
    signals_blocked() noexcept
    {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    signals_blocked(const signals_blocked &) = delete;
    signals_blocked &operator=(const signals_blocked &) = delete;

  private:
    sigset_t before_;
};

} // namespace flux
