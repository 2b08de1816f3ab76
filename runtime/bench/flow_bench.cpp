/// \file
/// What a flow costs: one of ten empty nodes, beside ten plain calls of the same functions.
///
/// `plain_calls` is what the nodes themselves cost. `generated_code` adds what generated code does between them.
/// `whole_flow` adds all else but a queue and a change of threads: the source's loop, the making of the values, the
/// counting of the path, and the flow's return.

#include "flux/flow/flow_store.hpp"
#include "flux/generated_support.hpp"
#include "flux/strategy/runner.hpp"
#include "flux/strategy/source.hpp"
#include "flux/strategy/strategy.hpp"

#include <benchmark/benchmark.h>
#include <chrono>
#include <cstdint>
#include <ctime>

namespace {

struct Node_in {
    int socket;
    bool close;
    void *request;
};

struct Node_out {
    int socket;
    bool close;
    void *request;
};

[[gnu::noipa]] int Node(Node_in *in, Node_out *out)
{
    out->socket = in->socket;
    out->close = in->close;
    out->request = in->request;
    return 0;
}

void plain_calls(benchmark::State &state)
{
    Node_in in{1, false, &state};
    for (auto unused : state) {
        static_cast<void>(unused);
        for (int node = 0; node < 10; ++node) {
            Node_out out;
            Node(&in, &out);
            in = {out.socket, out.close, out.request};
        }
        benchmark::DoNotOptimize(in);
    }
}

BENCHMARK(plain_calls);

// A step as the compiler writes it.
#define STEP(number)                                                                                                   \
    Node_in input_##number{values.socket, values.close, values.request};                                               \
    Node_out output_##number{};                                                                                        \
    try {                                                                                                              \
        flow.call(number);                                                                                             \
        error = Node(&input_##number, &output_##number);                                                               \
    } catch (...) {                                                                                                    \
        error = flow.caught();                                                                                         \
    }                                                                                                                  \
    if (error != 0) {                                                                                                  \
        flow.failed_in(number, error);                                                                                 \
        return flow.failed(number);                                                                                    \
    }                                                                                                                  \
    values = {output_##number.socket, output_##number.close, output_##number.request}

[[gnu::noinline]] flux::outcome ten_nodes(flux::flow &flow, Node_out &values)
{
    int error = 0;
    STEP(0);
    STEP(1);
    STEP(2);
    STEP(3);
    STEP(4);
    STEP(5);
    STEP(6);
    STEP(7);
    STEP(8);
    STEP(9);
    return flow.done();
}

void generated_code(benchmark::State &state)
{
    flux::flow flow;
    Node_out values{1, false, &state};
    for (auto unused : state) {
        static_cast<void>(unused);
        benchmark::DoNotOptimize(ten_nodes(flow, values));
    }
}

BENCHMARK(generated_code);

constexpr std::uint64_t batch = 1'000'000;
std::uint64_t made = 0;
std::chrono::nanoseconds began;
std::chrono::nanoseconds took;

std::chrono::nanoseconds thread_cpu_time()
{
    std::timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

flux::outcome make_values(flux::flow &flow, Node_out &values)
{
    if (made == 0) {
        began = thread_cpu_time();
    }
    if (made++ == batch) {
        took = thread_cpu_time() - began;
        flow.from().stop();
        return flow.failed();
    }
    values = {1, false, &made};
    return flow.done();
}

flux::outcome run(flux::flow &flow, Node_out &values)
{
    return ten_nodes(flow, values);
}

constexpr flux::path_edge edges[] = {{0, 0}};
constexpr flux::path_vertex vertices[] = {{flux::path_kind::start, nullptr, 0, 0, 0},
                                          {flux::path_kind::join, nullptr, 0, 0, 1}};
constexpr flux::path_function functions[] = {{"make", {1, 0, 0}, {1, 1, 1}}, {"run", {1, 10, 0}, {1, 1, 1}}};
constexpr flux::source_info sources[] = {flux::make_source<make_values, run>({"Source", "bench.flux", 1}, 0, 1)};
constexpr flux::program program{"bench", {}, {}, sources, functions, vertices, edges};

/// Runs each flow at once, on its source's thread.
class at_once final : public flux::strategy
{
  public:
    void start(flux::flow &flow, flux::runner &of_source) noexcept override { flow.from().run(flow, of_source); }
    void offer(flux::branch_base &) noexcept override {}
    bool take_back(flux::branch_base &) noexcept override { return true; }
    void finish() noexcept override {}
};

void whole_flow(benchmark::State &state)
{
    flux::runners all(program);
    flux::runner &own = *all.borrow();
    at_once strategy;
    while (state.KeepRunningBatch(batch)) {
        made = 0;
        flux::source source(program, 0, {.most = 10}, strategy, own, all.times());
        source.start();
        source.join();
        state.SetIterationTime(std::chrono::duration<double>(took).count());
    }
}

BENCHMARK(whole_flow)->UseManualTime();

} // namespace

BENCHMARK_MAIN();
