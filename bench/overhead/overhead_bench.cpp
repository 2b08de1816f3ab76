// What a flow of ten empty nodes costs beside ten plain calls of the same functions, on one thread. The generated
// function is called as a strategy calls it; what a source and a queue cost is measured by bench/run on whole servers.
#include "chain.flux.h"

#include <benchmark/benchmark.h>
#include <flux/generated_support.hpp>

namespace flux_flows {
flux::outcome Start_run(flux::flow &flow, Start_out &in);
}

static void ten_plain_calls(benchmark::State &state)
{
    int value = 0;
    for (auto _ : state) {
        One_in one{value};
        One_out one_out{};
        int error = One(&one, &one_out);
        Two_in two{one_out.value};
        Two_out two_out{};
        error |= Two(&two, &two_out);
        Three_in three{two_out.value};
        Three_out three_out{};
        error |= Three(&three, &three_out);
        Four_in four{three_out.value};
        Four_out four_out{};
        error |= Four(&four, &four_out);
        Five_in five{four_out.value};
        Five_out five_out{};
        error |= Five(&five, &five_out);
        Six_in six{five_out.value};
        Six_out six_out{};
        error |= Six(&six, &six_out);
        Seven_in seven{six_out.value};
        Seven_out seven_out{};
        error |= Seven(&seven, &seven_out);
        Eight_in eight{seven_out.value};
        Eight_out eight_out{};
        error |= Eight(&eight, &eight_out);
        Nine_in nine{eight_out.value};
        Nine_out nine_out{};
        error |= Nine(&nine, &nine_out);
        Ten_in ten{nine_out.value};
        error |= Ten(&ten);
        benchmark::DoNotOptimize(error);
        ++value;
    }
}
BENCHMARK(ten_plain_calls);

static void flow_of_ten_nodes(benchmark::State &state)
{
    flux::flow flow;
    int value = 0;
    for (auto _ : state) {
        Start_out start{value};
        flux::outcome outcome = flux_flows::Start_run(flow, start);
        benchmark::DoNotOptimize(outcome);
        ++value;
    }
}
BENCHMARK(flow_of_ten_nodes);

BENCHMARK_MAIN();
