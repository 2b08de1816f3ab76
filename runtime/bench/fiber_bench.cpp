/// \file
/// What a fiber costs: to resume and park it, and to run a function on it from its beginning to its end; beside what a
/// thread costs for the same, and beside the cheapest system call. `fresh` fibers have a stack that nobody has touched.

#include "flux/event/fiber.hpp"
#include "flux/waiting/waiter.hpp"

#include <benchmark/benchmark.h>
#include <memory>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

void resume_and_park(benchmark::State &state)
{
    flux::stack_store stacks;
    flux::fiber fiber(*stacks.take());
    bool go_on = true;
    fiber.prepare(
        [](void *going) {
            while (*static_cast<bool *>(going)) {
                flux::fiber::running()->park();
            }
        },
        &go_on);
    for (auto unused : state) {
        static_cast<void>(unused);
        fiber.resume();
    }
    go_on = false;
    fiber.resume();
}

BENCHMARK(resume_and_park);

void run_to_the_end(benchmark::State &state)
{
    flux::stack_store stacks;
    flux::fiber fiber(*stacks.take());
    long sum = 0;
    for (auto unused : state) {
        static_cast<void>(unused);
        fiber.prepare([](void *counted) { ++*static_cast<long *>(counted); }, &sum);
        fiber.resume();
    }
    benchmark::DoNotOptimize(sum);
}

BENCHMARK(run_to_the_end);

void run_fresh(benchmark::State &state)
{
    constexpr benchmark::IterationCount batch = 1000;
    long sum = 0;
    while (state.KeepRunningBatch(batch)) {
        flux::stack_store stacks;
        std::vector<std::unique_ptr<flux::fiber>> fibers;
        for (benchmark::IterationCount number = 0; number < batch; ++number) {
            fibers.push_back(std::make_unique<flux::fiber>(*stacks.take()));
            fibers.back()->prepare([](void *counted) { ++*static_cast<long *>(counted); }, &sum);
            fibers.back()->resume();
        }
    }
    benchmark::DoNotOptimize(sum);
}

BENCHMARK(run_fresh);

void wake_and_wait_for_a_thread(benchmark::State &state)
{
    flux::thread_waiter here;
    flux::thread_waiter there;
    bool go_on = true;
    std::thread other([&] {
        while (true) {
            there.wait();
            if (!go_on) {
                return;
            }
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

BENCHMARK(wake_and_wait_for_a_thread)->UseRealTime();

void run_a_thread(benchmark::State &state)
{
    long sum = 0;
    for (auto unused : state) {
        static_cast<void>(unused);
        std::thread([&] { ++sum; }).join();
    }
}

BENCHMARK(run_a_thread)->UseRealTime();

void system_call(benchmark::State &state)
{
    for (auto unused : state) {
        static_cast<void>(unused);
        syscall(SYS_getppid);
    }
}

BENCHMARK(system_call);

} // namespace

BENCHMARK_MAIN();
