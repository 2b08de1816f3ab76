#include "flux/signals.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <semaphore.h>
#include <unistd.h>

namespace flux {
namespace {

sem_t told_to_end;
std::atomic<int> first_signal{0};

void on_end(int number)
{
    const int error = errno;
    int none = 0;
    if (!first_signal.compare_exchange_strong(none, number)) {
        constexpr char words[] = "flux: told to end a second time: ends at once\n";
        [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, words, sizeof words - 1);
        _exit(128 + number);
    }
    sem_post(&told_to_end);
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
    sem_init(&told_to_end, 0, 0);
    on_signal(SIGPIPE, on_nothing, SA_RESTART);
    for (const int number : {SIGTERM, SIGINT}) {
        struct sigaction before = {};
        if (sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) {
            on_signal(number, on_end, SA_RESTART);
        }
    }
}

int wait_for_end() noexcept
{
    while (sem_wait(&told_to_end) != 0) {
        // Only another signal can have come first.
    }
    return first_signal.load();
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
