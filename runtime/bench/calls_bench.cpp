/// \file
/// What a call costs that is caught and need not wait, beside the same call of the C library alone: a byte written and
/// read back, through two sockets and through a pipe. Half of the difference of two neighbours is for each call.
#include <flux/calls/call_table.hpp>
#include <flux/event/fiber.hpp>
#include <flux/event/stack.hpp>
#include <flux/flow/flow.hpp>

#include <benchmark/benchmark.h>
#include <cstdlib>
#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

using read_function = ssize_t(int, void *, std::size_t);
using write_function = ssize_t(int, const void *, std::size_t);

/// Two connected descriptors, the first to read from.
struct pair_of_ends {
    int ends[2];

    explicit pair_of_ends(bool sockets)
    {
        if ((sockets ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends)) != 0) {
            std::abort();
        }
    }
    ~pair_of_ends()
    {
        close(ends[0]);
        close(ends[1]);
    }
    pair_of_ends(const pair_of_ends &) = delete;
};

/// Runs all iterations, on a fiber where that is said.
template <class Function>
void run(bool on_fiber, Function function)
{
    if (!on_fiber) {
        return function();
    }
    flux::flow flow;
    flux::stack_store stacks;
    flux::fiber fiber(*stacks.take());
    fiber.prepare([](void *argument) { (*static_cast<Function *>(argument))(); }, &function);
    flux::running_flow = &flow;
    fiber.resume();
    flux::running_flow = nullptr;
    stacks.give_back(fiber.on());
}

void write_and_read(benchmark::State &state, bool sockets, bool on_fiber, read_function *reads, write_function *writes)
{
    const pair_of_ends of(sockets);
    run(on_fiber, [&] {
        char byte = 'a';
        for (auto _ : state) {
            benchmark::DoNotOptimize(writes(of.ends[1], &byte, 1));
            benchmark::DoNotOptimize(reads(of.ends[0], &byte, 1));
        }
    });
}

template <class Function>
Function *of_c_library(const char *name)
{
    return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
}

void straight(benchmark::State &state, bool sockets)
{
    write_and_read(state, sockets, false, of_c_library<read_function>("read"), of_c_library<write_function>("write"));
}

/// The calls as a program makes them.
void caught(benchmark::State &state, bool sockets, bool on_fiber)
{
    if (!flux::calls::why_not_caught().empty()) {
        return state.SkipWithError("calls are not caught");
    }
    write_and_read(state, sockets, on_fiber, ::read, ::write);
}

BENCHMARK_CAPTURE(straight, socket, true);
BENCHMARK_CAPTURE(caught, socket_on_a_thread, true, false);
BENCHMARK_CAPTURE(caught, socket_on_a_fiber, true, true);
BENCHMARK_CAPTURE(straight, pipe, false);
BENCHMARK_CAPTURE(caught, pipe_on_a_thread, false, false);
BENCHMARK_CAPTURE(caught, pipe_on_a_fiber, false, true);

} // namespace

BENCHMARK_MAIN();
