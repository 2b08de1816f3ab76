/// \file
/// The flows of fairness.flux: they come all at once, a heavy one and a light one in turns. When the last has ended,
/// this prints as JSON after how many seconds of the loop's processor time the light ones and all had, and ends the
/// server.
#include "fairness.flux.h"

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <unistd.h>

namespace {

constexpr int of_each = 100;

std::atomic<int> come{0};
std::atomic<int> light_left{of_each};
std::atomic<int> heavy_left{of_each};

// All run on one loop, so its thread's time is theirs; what else the machine does is not.
double now()
{
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

double light_s = 0;

} // namespace

int Next(Next_in *in, Next_out *out)
{
    const int number = come++;
    if (number >= 2 * of_each) {
        pause();
    }
    out->is_heavy = number % 2 == 0;
    out->items.resize(static_cast<std::size_t>(in->items));
    out->item.resize(out->is_heavy ? std::size_t{16} << 10 : std::size_t{1} << 10, 1);
    return 0;
}

int Ended(Ended_in *in)
{
    if (in->is_heavy) {
        --heavy_left;
    } else if (--light_left == 0) {
        light_s = now();
    }
    if (light_left == 0 && heavy_left == 0) {
        std::printf("{\"light_s\": %.6f, \"all_s\": %.6f}\n", light_s, now());
        std::fflush(nullptr);
        _exit(EXIT_SUCCESS);
    }
    return 0;
}
