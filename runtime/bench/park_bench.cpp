/// \file
/// What waiting costs: to begin and end a park, to set and cancel a deadline, to be woken on another thread, and to
/// hold a lock that nobody else wants; beside what the kernel takes for a timer, and the C++ library for a lock.

#include "flux/waiting/cancellation.hpp"
#include "flux/constraint/lock.hpp"
#include "flux/waiting/timer_wheel.hpp"
#include "flux/waiting/waiter.hpp"

#include <benchmark/benchmark.h>
#include <atomic>
#include <ctime>
#include <random>
#include <shared_mutex>
#include <sys/timerfd.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

// What the word of the flow costs: the waiting itself is left out.
void begin_and_end_a_park(benchmark::State &state)
{
    flux::cancellation word;
    for (auto unused : state) {
        static_cast<void>(unused);
        word.open_park();
        benchmark::DoNotOptimize(word.end_park(flux::park_end::completed));
        benchmark::DoNotOptimize(word.ended());
    }
}

BENCHMARK(begin_and_end_a_park);

// Of so many deadlines that are set, up to a minute away.
void set_and_cancel_a_deadline(benchmark::State &state)
{
    const flux::moment now = flux::clock::now();
    std::mt19937_64 random(1);
    const auto some_time = [&] { return std::chrono::nanoseconds(random() % 60'000'000'000); };
    flux::timer_wheel wheel(now);
    std::vector<flux::timer_wheel::entry> others(static_cast<std::size_t>(state.range(0)));
    for (flux::timer_wheel::entry &each : others) {
        wheel.set(each, now + some_time());
    }
    std::vector<flux::moment> deadlines(1024);
    for (flux::moment &each : deadlines) {
        each = now + some_time();
    }
    flux::timer_wheel::entry entry;
    std::size_t turn = 0;
    for (auto unused : state) {
        static_cast<void>(unused);
        wheel.set(entry, deadlines[turn++ % deadlines.size()]);
        wheel.cancel(entry);
    }
    for (flux::timer_wheel::entry &each : others) {
        wheel.cancel(each);
    }
}

BENCHMARK(set_and_cancel_a_deadline)->Arg(0)->Arg(100'000);

// Each is set a second ahead and comes due.
void set_a_deadline_that_comes(benchmark::State &state)
{
    flux::moment now = flux::clock::now();
    flux::timer_wheel wheel(now);
    std::vector<flux::timer_wheel::entry> entries(1000);
    for (flux::timer_wheel::entry &each : entries) {
        wheel.set(each, now += flux::timer_wheel::tick);
    }
    for (auto unused : state) {
        static_cast<void>(unused);
        flux::timer_wheel::entry *const due = wheel.take_due(wheel.next());
        if (due == nullptr) {
            continue; // it has come to a higher wheel's slot
        }
        wheel.set(*due, now += flux::timer_wheel::tick);
    }
    for (flux::timer_wheel::entry &each : entries) {
        wheel.cancel(each);
    }
}

BENCHMARK(set_a_deadline_that_comes);

void set_and_cancel_a_timer_of_the_kernel(benchmark::State &state)
{
    const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    const itimerspec later{{0, 0}, {60, 0}};
    const itimerspec none{};
    for (auto unused : state) {
        static_cast<void>(unused);
        timerfd_settime(timer, 0, &later, nullptr);
        timerfd_settime(timer, 0, &none, nullptr);
    }
    close(timer);
}

BENCHMARK(set_and_cancel_a_timer_of_the_kernel);

void hold_a_lock(benchmark::State &state)
{
    flux::lock lock;
    flux::thread_waiter place;
    for (auto unused : state) {
        static_cast<void>(unused);
        lock.acquire(flux::mode::write, place);
        lock.release(flux::mode::write);
    }
}

BENCHMARK(hold_a_lock);

void hold_a_lock_of_the_library(benchmark::State &state)
{
    std::shared_mutex lock;
    for (auto unused : state) {
        static_cast<void>(unused);
        lock.lock();
        lock.unlock();
    }
}

BENCHMARK(hold_a_lock_of_the_library);

// There and back: two parks of threads that end, two that begin.
void wake_another_thread_and_be_woken(benchmark::State &state)
{
    flux::thread_waiter here;
    flux::thread_waiter there;
    std::atomic<bool> go_on{true};
    std::thread other([&] {
        for (there.wait(); go_on; there.wait()) {
            here.wake();
        }
    });
    for (auto unused : state) {
        static_cast<void>(unused);
        there.wake();
        here.wait();
    }
    go_on = false;
    there.wake();
    other.join();
}

BENCHMARK(wake_another_thread_and_be_woken)->UseRealTime();

} // namespace

BENCHMARK_MAIN();
