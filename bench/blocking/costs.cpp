// Each case is run in turns, straight and caught, so that a machine that slows down favours neither.

#include "costs.flux.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <pthread.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace {

constexpr int turns = 31;
constexpr int rounds = 20'000;

// The C library's own definition of a function.
template <class Function>
Function *straight(Function *, const char *name)
{
    static void *const library = dlopen("libc.so.6", RTLD_NOW);
    return reinterpret_cast<Function *>(dlsym(library, name));
}

template <class Round>
double time_ns(const Round &round)
{
    const auto begin = std::chrono::steady_clock::now();
    for (int each = 0; each < rounds; ++each) {
        round();
    }
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / rounds;
}

double median(std::array<double, turns> &of)
{
    std::ranges::sort(of);
    return of[turns / 2];
}

// Prints what one of the `calls` calls in a round costs, each way.
template <class Straight, class Caught>
void compare(const char *name, int calls, const Straight &straight_round, const Caught &caught_round)
{
    std::array<double, turns> straight_ns{};
    std::array<double, turns> caught_ns{};
    std::array<double, turns> more_ns{};
    for (std::size_t turn = 0; turn < turns; ++turn) {
        if (turn % 2 == 0) {
            straight_ns[turn] = time_ns(straight_round) / calls;
            caught_ns[turn] = time_ns(caught_round) / calls;
        } else {
            caught_ns[turn] = time_ns(caught_round) / calls;
            straight_ns[turn] = time_ns(straight_round) / calls;
        }
        more_ns[turn] = caught_ns[turn] - straight_ns[turn];
    }
    const double more = median(more_ns);
    std::printf("| %-42s | %8.1f | %8.1f | %+8.1f | %+.1f to %+.1f |\n", name, median(straight_ns), median(caught_ns),
                more, more_ns[turns / 4], more_ns[turns * 3 / 4]);
}

// A byte that is written and read back.
void compare_bytes(const char *name, const int (&ends)[2])
{
    char byte = 'a';
    const auto through = [&](auto *reads, auto *writes) {
        return [=, &byte, &ends] {
            if (writes(ends[1], &byte, 1) != 1 || reads(ends[0], &byte, 1) != 1) {
                std::abort();
            }
        };
    };
    compare(name, 2, through(straight(&read, "read"), straight(&write, "write")), through(&read, &write));
    close(ends[0]);
    close(ends[1]);
}

void compare_locks()
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const auto with = [&lock](auto *locks, auto *unlocks) {
        return [=, &lock] {
            locks(&lock);
            unlocks(&lock);
        };
    };
    compare("pthread_mutex_lock, _unlock, nobody waits", 2,
            with(straight(&pthread_mutex_lock, "pthread_mutex_lock"),
                 straight(&pthread_mutex_unlock, "pthread_mutex_unlock")),
            with(&pthread_mutex_lock, &pthread_mutex_unlock));
}

void compare_stdio()
{
    std::FILE *const file = std::tmpfile();
    std::fputs("0123456789", file);
    std::rewind(file);
    // What is taken is put back, straight both ways, so the buffer never ends.
    const auto with = [file, puts_back = straight(&ungetc, "ungetc")](auto *gets) {
        return [=] { puts_back(gets(file), file); };
    };
    compare("fgetc out of its buffer (with ungetc)", 1, with(straight(&fgetc, "fgetc")), with(&fgetc));
    std::fclose(file);
}

} // namespace

int Once()
{
    static bool is_made = false;
    if (std::exchange(is_made, true)) {
        std::this_thread::sleep_for(std::chrono::hours(1));
    }
    return 0;
}

int Measure()
{
    int ends[2];
    std::printf("| %-42s | %8s | %8s | %8s | quartiles |\n", "a call, in ns", "straight", "caught", "more");
    std::printf("| --- | ---: | ---: | ---: | --- |\n");
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0) {
        compare_bytes("read, write of a socket", ends);
    }
    if (pipe(ends) == 0) {
        compare_bytes("read, write of a pipe", ends);
    }
    compare_locks();
    compare_stdio();
    std::fflush(stdout);
    _exit(0);
}
