/// \file
/// An open load from inside of a server: flows come at the times of a file, whatever became of those before, and the
/// latency of each counts from the time when it should have come. So it needs no sockets, and hardly any processor
/// time.
///
/// The environment says which: LOAD_ARRIVALS is a file of doubles, seconds from the beginning; LOAD_RESULTS is where
/// the latency of each goes, in seconds (negative where it has not ended), then when each ended, and last how long
/// event loops waited for a processor; LOAD_SECONDS ends it, where more come than can end; LOAD_PROCESSOR pins the
/// thread that brings them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <sched.h>
#include <string>
#include <sys/timerfd.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace open_load {

using clock_type = std::chrono::steady_clock;

struct state {
    std::vector<double> due;
    std::vector<double> latency;
    std::vector<double> end;
    clock_type::time_point begin;
    std::atomic<long> ended{0};
    long next = 0;
    double seconds = 0;
    double loops_waited = 0;
};

inline state &shared()
{
    static state *const only = new state; // flows may use it until the process ends
    return *only;
}

inline double now_s()
{
    return std::chrono::duration<double>(clock_type::now() - shared().begin).count();
}

inline const char *variable(const char *name)
{
    const char *const value = std::getenv(name);
    if (value == nullptr) {
        std::fprintf(stderr, "open_load: %s is not set\n", name);
        std::exit(2);
    }
    return value;
}

/// How many counts of the processor's clock are a microsecond.
inline double counts_per_us()
{
    static const double counts = [] {
        const auto begin = clock_type::now();
        const std::uint64_t from = __builtin_ia32_rdtsc();
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        const double counted = static_cast<double>(__builtin_ia32_rdtsc() - from);
        return counted / std::chrono::duration<double, std::micro>(clock_type::now() - begin).count();
    }();
    return counts;
}

inline void begin()
{
    state &all = shared();
    std::FILE *const file = std::fopen(variable("LOAD_ARRIVALS"), "rb");
    if (file == nullptr) {
        std::perror("open_load: LOAD_ARRIVALS");
        std::exit(2);
    }
    for (double due = 0; std::fread(&due, sizeof due, 1, file) == 1;) {
        all.due.push_back(due);
    }
    std::fclose(file);
    all.latency.assign(all.due.size(), -1);
    all.end.assign(all.due.size(), -1);
    all.seconds = std::atof(variable("LOAD_SECONDS"));
    if (const char *const processor = std::getenv("LOAD_PROCESSOR")) {
        cpu_set_t only;
        CPU_ZERO(&only);
        CPU_SET(static_cast<std::size_t>(std::atoi(processor)), &only);
        sched_setaffinity(0, sizeof only, &only);
        // Who brings flows late measures that. Beside flows it is a thread as theirs are, in the simulation, too.
        if (std::getenv("LOAD_FIRST") != nullptr) {
            const sched_param first{1};
            sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first);
        }
    }
    counts_per_us();
    // Time for the server to be up.
    all.begin = clock_type::now() + std::chrono::milliseconds(200);
}

/// How long event loops were ready and had no processor so far, in seconds, together.
inline double loops_waited()
{
    double sum = 0;
    for (const auto &thread : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string name;
        double ran = 0, waited = 0;
        std::ifstream(thread.path() / "comm") >> name;
        std::ifstream(thread.path() / "schedstat") >> ran >> waited;
        sum += name == "flux-loop" ? waited * 1e-9 : 0;
    }
    return sum;
}

/// Waits until all flows have ended, or have had time enough, and asks the server to end.
inline void finish()
{
    for (int turn = 0; turn < 300 && shared().ended.load() < shared().next; ++turn) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    shared().loops_waited = loops_waited();
    kill(getpid(), SIGTERM);
    pause();
}

/// Waits by a timer of its own: a sleep may end 50 us late, so that the kernel can wake several at once
/// (`PR_SET_TIMERSLACK`), and threads that are made for flows would have from the load's what was set there.
inline void wait_until(clock_type::time_point when)
{
    static const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    const auto from_boot = std::chrono::nanoseconds(when.time_since_epoch()).count();
    const itimerspec once{{0, 0}, {from_boot / 1'000'000'000, from_boot % 1'000'000'000}};
    std::uint64_t expirations = 0;
    if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &once, nullptr) != 0 ||
        ::read(timer, &expirations, sizeof expirations) != sizeof expirations) {
        std::perror("open_load: timerfd");
        std::exit(2);
    }
}

/// Waits until the next flow should come, and gives its number, or -1 where none comes any more; for the one node of
/// the source.
inline int next()
{
    state &all = shared();
    if (all.due.empty()) {
        begin();
    }
    if (all.next == static_cast<long>(all.due.size()) || now_s() > all.seconds) {
        finish();
        return -1;
    }
    const double due = all.due[static_cast<std::size_t>(all.next)];
    wait_until(all.begin + std::chrono::duration_cast<clock_type::duration>(std::chrono::duration<double>(due)));
    return static_cast<int>(all.next++);
}

/// The flow of this number has ended.
inline void end(int number)
{
    state &all = shared();
    const auto at = static_cast<std::size_t>(number);
    all.end[at] = now_s();
    all.latency[at] = all.end[at] - all.due[at];
    all.ended.fetch_add(1, std::memory_order_relaxed);
}

/// Writes the results; for `fini`.
inline void write()
{
    std::FILE *const file = std::fopen(variable("LOAD_RESULTS"), "wb");
    if (file != nullptr) {
        std::fwrite(shared().latency.data(), sizeof(double), shared().latency.size(), file);
        std::fwrite(shared().end.data(), sizeof(double), shared().end.size(), file);
        std::fwrite(&shared().loops_waited, sizeof(double), 1, file);
        std::fclose(file);
    }
}

/// Computes for so long: where it was interrupted for more than a moment, that does not count, so what disturbs the
/// machine makes it no shorter and no longer. The clock of the thread is not asked, as then the kernel looks each time
/// whether the thread has had its slice.
inline void compute(double us)
{
    const std::uint64_t moment = static_cast<std::uint64_t>(2 * counts_per_us());
    auto left = static_cast<std::int64_t>(us * counts_per_us());
    for (std::uint64_t last = __builtin_ia32_rdtsc(); left > 0;) {
        const std::uint64_t now = __builtin_ia32_rdtsc();
        if (now - last < moment) {
            left -= static_cast<std::int64_t>(now - last);
        }
        last = now;
    }
}

inline void rest(double us)
{
    std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(us));
}

/// So many requests there are; they come again and again, as those of a log that is replayed. So what flows take on
/// average is the same in each run, and what a profile says of some is not another sample than what is measured.
constexpr int requests = 1000;

/// The random numbers of a flow's request for one purpose, the same each time that it comes (splitmix64).
class draws
{
  public:
    using result_type = std::uint64_t;

    draws(int number, int purpose)
        : state_(static_cast<std::uint64_t>(number % requests) << 32 | static_cast<std::uint64_t>(purpose))
    {
        state_ = (*this)(); // the numbers of neighbours are far from each other
    }

    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

    result_type operator()()
    {
        std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
        mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
        mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
        return mixed ^ mixed >> 31;
    }

  private:
    std::uint64_t state_;
};

inline double exponential(draws &from, double mean)
{
    return std::exponential_distribution<>(1 / mean)(from);
}

inline double uniform(draws &from, double low, double high)
{
    return std::uniform_real_distribution<>(low, high)(from);
}

inline double lognormal(draws &from, double mean, double variation)
{
    const double variance = std::log(1 + variation * variation);
    return mean * std::lognormal_distribution<>(-variance / 2, std::sqrt(variance))(from);
}

/// A key from 0: the one at rank r is as likely as 1 / r to this power.
inline int zipf(draws &from, int keys, double power)
{
    static std::vector<double> sums;
    if (sums.empty()) {
        double sum = 0;
        for (int rank = 1; rank <= keys; ++rank) {
            sums.push_back(sum += std::pow(rank, -power));
        }
    }
    return static_cast<int>(std::lower_bound(sums.begin(), sums.end(), uniform(from, 0, sums.back())) - sums.begin());
}

} // namespace open_load
