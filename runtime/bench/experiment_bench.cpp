/// \file
/// An experiment on a running server beside the truth: what it says that a faster node gives, and what that node gives
/// where it truly is so much faster. One node is the bottleneck, in a constraint; the other is not.
///
/// The counters are flows in a second, as a part of those that the server runs as it is: `truly`, with the faster node;
/// `said` by the experiment; `said_of_other`, by that on the other node, which changes nothing. Nodes sleep, so they
/// need no processor.

#include "flux/insight/live_experiment.hpp"
#include "flux/sleep.hpp"
#include "../test/support/running_source.hpp"

#include <benchmark/benchmark.h>
#include <chrono>
#include <functional>
#include <thread>

namespace {

using namespace std::chrono_literals;

// Two threads, and a node in a constraint of which only one flow has its turn.
double rate_with(std::chrono::microseconds in_constraint,
                 const std::function<void(sample::running_source &)> &meanwhile)
{
    sample::work = [=](const sample::Listen_out &) {
        const flux::node_number at = flux::running_flow->position();
        const auto time = at == sample::node_One ? in_constraint : at == sample::node_Begin ? 1200us : 300us;
        flux::sleep_for(at == sample::node_Choose ? 0us : time);
    };
    sample::listen = [](sample::Listen_out &out) {
        out = sample::Listen_out{1, 2, -1};
        return true;
    };
    sample::running_source running(sample::program, sample::source_Listen, flux::strategy_kind::pool, 4);
    running.await_finished(4);
    const std::uint64_t flows = running.all.flows_ended();
    const flux::moment begin = flux::clock::now();
    meanwhile(running);
    const std::chrono::duration<double> time = flux::clock::now() - begin;
    return static_cast<double>(running.all.flows_ended() - flows) / time.count();
}

double said_of(sample::node node, sample::running_source &running)
{
    flux::live_experiment experiment(running.all);
    experiment.begin({node, 25, 80ms, 8});
    await([&] { return experiment.slices().size() == 8; });
    return 1 + flux::throughput_of(experiment.slices()).mean;
}

void what_a_faster_bottleneck_gives(benchmark::State &state)
{
    for (auto unused : state) {
        static_cast<void>(unused);
        const auto wait = [](sample::running_source &) { std::this_thread::sleep_for(300ms); };
        state.counters["truly"] = rate_with(3000us, wait) / rate_with(4000us, wait);
        rate_with(4000us, [&](sample::running_source &running) {
            state.counters["said"] = said_of(sample::node_One, running);
            state.counters["said_of_other"] = said_of(sample::node_Begin, running);
        });
    }
}

BENCHMARK(what_a_faster_bottleneck_gives)->Iterations(1);

} // namespace

BENCHMARK_MAIN();
