/// \file
/// What it costs a node to log a line of 60 bytes, which a thread of the log's own writes; beside what it costs to
/// format it and to write it at once. Standard error is `/dev/null`, so a write costs its system call alone.

#include "flux/log.hpp"
#include "flux/process/log_ring.hpp"

#include <benchmark/benchmark.h>
#include <cstdio>
#include <fcntl.h>
#include <memory>
#include <unistd.h>

namespace {

constexpr char format[] = "connection %d from %s was closed after %d requests";

/// Standard error leads nowhere while it exists.
class into_nothing
{
  public:
    into_nothing() : before_(dup(STDERR_FILENO))
    {
        const int nothing = open("/dev/null", O_WRONLY);
        dup2(nothing, STDERR_FILENO);
        close(nothing);
    }
    ~into_nothing()
    {
        dup2(before_, STDERR_FILENO);
        close(before_);
    }

  private:
    int before_;
};

// As fast as it goes, so the ring is full now and then and lines are left out: that takes no longer.
void log_lines(benchmark::State &state)
{
    const into_nothing here;
    flux::start_log();
    int number = 0;
    for (auto unused : state) {
        static_cast<void>(unused);
        flux::log_line(format, ++number, "192.0.2.17", 12);
    }
    flux::finish_log();
}

BENCHMARK(log_lines);

// With what it takes to find nothing of it in the caches; the first wakes the thread that writes.
void log_a_line_now_and_then(benchmark::State &state)
{
    const into_nothing here;
    flux::start_log();
    int number = 0;
    for (auto unused : state) {
        static_cast<void>(unused);
        state.PauseTiming();
        usleep(3000);
        state.ResumeTiming();
        flux::log_line(format, ++number, "192.0.2.17", 12);
    }
    flux::finish_log();
}

BENCHMARK(log_a_line_now_and_then)->Iterations(500);

void put_into_a_ring_and_take_out(benchmark::State &state)
{
    const auto ring = std::make_unique<flux::log_ring>();
    std::atomic<std::uint64_t> turns{0};
    const std::string_view line = "flux: connection 17 from 192.0.2.17 was closed after 12 requests\n";
    char taken[100];
    for (auto unused : state) {
        static_cast<void>(unused);
        ring->push(line, turns);
        flux::log_ring::front first;
        ring->peek(first);
        ring->take(first, taken);
        ring->release();
    }
}

BENCHMARK(put_into_a_ring_and_take_out);

void format_alone(benchmark::State &state)
{
    char line[1024];
    int number = 0;
    for (auto unused : state) {
        static_cast<void>(unused);
        benchmark::DoNotOptimize(std::snprintf(line, sizeof line, format, ++number, "192.0.2.17", 12));
        benchmark::DoNotOptimize(line);
    }
}

BENCHMARK(format_alone);

void format_and_write_at_once(benchmark::State &state)
{
    const into_nothing here;
    int number = 0;
    for (auto unused : state) {
        static_cast<void>(unused);
        char line[1024];
        const int length = std::snprintf(line, sizeof line, format, ++number, "192.0.2.17", 12);
        benchmark::DoNotOptimize(write(STDERR_FILENO, line, static_cast<std::size_t>(length)));
    }
}

BENCHMARK(format_and_write_at_once);

} // namespace

BENCHMARK_MAIN();
