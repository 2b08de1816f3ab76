#include "flux/process/signals.hpp"

#include "flux/log.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <iterator>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace flux {
namespace {

// Readable when that has been told.
int end_is_told = -1;
std::atomic<int> first_signal{0};
std::atomic<bool> ends_at_once{false};

void on_end(int number)
{
    const int error = errno;
    int none = 0;
    if (first_signal.compare_exchange_strong(none, number)) {
        eventfd_write(end_is_told, 1);
    } else if (!ends_at_once.exchange(true)) {
        log_last_words("flux: told to end a second time: ends at once\n");
        _exit(128 + number);
    }
    errno = error;
}

void on_nothing(int)
{
}

void on_signal(int number, void (*call)(int), int flags) noexcept
{
    struct sigaction action = {};
    action.sa_handler = call;
    action.sa_flags = flags;
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, nullptr);
}

} // namespace

void catch_signals() noexcept
{
    end_is_told = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    on_signal(SIGPIPE, on_nothing, SA_RESTART);
    for (const int number : {SIGTERM, SIGINT}) {
        struct sigaction before = {};
        if (sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) {
            on_signal(number, on_end, SA_RESTART);
        }
    }
}

int wait_for_end(int other, moment until) noexcept
{
    pollfd either[] = {{end_is_told, POLLIN, 0}, {other, POLLIN, 0}};
    while (true) {
        const std::timespec left = timespec_of(std::max(until - clock::now(), clock::duration::zero()));
        const int ready = ppoll(either, std::size(either), until == never ? nullptr : &left, nullptr);
        if (const int signal = first_signal.load(); signal != 0 || ready >= 0) {
            return signal;
        }
    }
}

void allow_interrupts() noexcept
{
    on_signal(SIGURG, on_nothing, 0);
}

void interrupt(pthread_t thread) noexcept
{
    pthread_kill(thread, SIGURG);
}

} // namespace flux
