#include "flux/calls/process_calls.hpp"

#include "flux/calls/caught_call.hpp"
#include "flux/event/handed_over.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <sys/resource.h>
#include <sys/wait.h>

using namespace flux::calls;
using flux::lasting;

namespace {

template <class Call>
auto wait_beside(Call call) noexcept
{
    return flux::handed_over_interruptible(*flux::resident::running(), call);
}

/// Waits for a child: `wait(options)` does.
template <class Wait>
pid_t await_child(int options, Wait wait) noexcept
{
    const pid_t child = wait(options | WNOHANG);
    return child != 0 || (options & WNOHANG) != 0 ? child : wait_beside([=] { return wait(options); });
}

} // namespace

FLUX_CATCH(pid_t, waitpid, pid_t child, int *status, int options)
{
    return on_loop() ? await_child(options, [=](int how) { return next_waitpid(child, status, how); })
                      : next_waitpid(child, status, options);
}

FLUX_CATCH(pid_t, wait, int *status)
{
    return on_loop() ? await_child(0, [=](int how) { return waitpid(-1, status, how); }) : next_wait(status);
}

FLUX_CATCH(pid_t, wait4, pid_t child, int *status, int options, rusage *usage)
{
    return on_loop() ? await_child(options, [=](int how) { return next_wait4(child, status, how, usage); })
                      : next_wait4(child, status, options, usage);
}

FLUX_CATCH(pid_t, wait3, int *status, int options, rusage *usage)
{
    return on_loop() ? await_child(options, [=](int how) { return next_wait3(status, how, usage); })
                      : next_wait3(status, options, usage);
}

FLUX_CATCH(int, waitid, idtype_t kind, id_t child, siginfo_t *info, int options)
{
    return on_loop() && (options & WNOHANG) == 0
               ? wait_beside([=] { return next_waitid(kind, child, info, options); })
               : next_waitid(kind, child, info, options);
}

FLUX_CATCH(int, system, const char *command)
{
    return on_loop() && command != nullptr ? flux::handed_over(*flux::resident::running(), lasting::waits_for_others,
                                                                [=] { return next_system(command); })
                                            : next_system(command);
}

FLUX_CATCH(std::FILE *, popen, const char *command, const char *how)
{
    return on_loop() ? flux::handed_over(*flux::resident::running(), lasting::ends_by_itself,
                                          [=] { return next_popen(command, how); })
                      : next_popen(command, how);
}

FLUX_CATCH(int, pclose, std::FILE *stream)
{
    return on_loop() ? flux::handed_over(*flux::resident::running(), lasting::waits_for_others,
                                          [=] { return next_pclose(stream); })
                      : next_pclose(stream);
}

namespace {

/// Waits for signals as the calling thread would: with its mask.
template <class Wait>
int await_signal(Wait wait) noexcept
{
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    return wait_beside([=] {
        sigset_t before;
        pthread_sigmask(SIG_SETMASK, &mask, &before);
        const int result = wait();
        const int error = errno;
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        errno = error;
        return result;
    });
}

} // namespace

FLUX_CATCH(int, sigwaitinfo, const sigset_t *awaited, siginfo_t *info)
{
    return on_loop() ? await_signal([=] { return next_sigwaitinfo(awaited, info); })
                      : next_sigwaitinfo(awaited, info);
}

FLUX_CATCH(int, sigtimedwait, const sigset_t *awaited, siginfo_t *info, const std::timespec *time)
{
    return on_loop() ? await_signal([=] { return next_sigtimedwait(awaited, info, time); })
                      : next_sigtimedwait(awaited, info, time);
}

// It is not interrupted, by its contract: it begins again.
FLUX_CATCH(int, sigwait, const sigset_t *awaited, int *found)
{
    if (!on_loop()) {
        return next_sigwait(awaited, found);
    }
    const int signal = await_signal([=] { return sigwaitinfo(awaited, nullptr); });
    if (signal < 0) {
        return errno;
    }
    *found = signal;
    return 0;
}
