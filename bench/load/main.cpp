// flux-load: loads an HTTP server in an open or a closed loop, and reports how long its answers take. README.md says
// how to use it and how to read what it prints.
#include "generator.h"
#include "options.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

namespace {

constexpr double percents[] = {50, 75, 90, 95, 99, 99.9, 99.99};

double to_ms(double ns)
{
    return ns / 1e6;
}

double percentile_ms(load::result &result, double percent)
{
    return to_ms(static_cast<double>(result.latency.percentile_ns(percent)));
}

/// The server's processor time for an answer, in milliseconds.
double processor_ms(const load::result &result)
{
    return result.processor_s * 1000 / static_cast<double>(result.answers_in_time);
}

bool knows_processor_time(const load::result &result)
{
    return result.processor_s >= 0 && result.answers_in_time > 0;
}

double answers_per_s(const load::result &result)
{
    return static_cast<double>(result.answers_in_time) / result.measured_s;
}

void print_text(const load::options &options, load::result &result)
{
    if (options.closed > 0)
        std::printf("closed loop of %u connections", options.closed);
    else
        std::printf("open loop, %g requests a second on at most %u connections", options.rate, options.connections);
    std::printf(", %g s, %zu targets, seed %llu\n", options.duration_s, options.targets.size(),
                static_cast<unsigned long long>(options.seed));
    std::printf("requests    %llu: %llu answered with 200, %llu otherwise, %llu failed, %llu given up\n",
                static_cast<unsigned long long>(result.requests), static_cast<unsigned long long>(result.answered),
                static_cast<unsigned long long>(result.other_status), static_cast<unsigned long long>(result.failed),
                static_cast<unsigned long long>(result.unanswered));
    std::printf("throughput  %.1f answers/s\n", answers_per_s(result));
    std::printf("latency ms  mean %.3f", to_ms(result.latency.mean_ns()));
    for (const double percent : percents)
        std::printf("  p%g %.3f", percent, percentile_ms(result, percent));
    std::printf("  max %.3f\n", percentile_ms(result, 100));
    if (options.closed == 0)
        std::printf("lag ms      max %.3f (how late flux-load itself was)\n", to_ms(static_cast<double>(result.worst_lag_ns)));
    if (knows_processor_time(result))
        std::printf("server CPU  %.4f ms/answer, %.2f cores\n", processor_ms(result), result.processor_s / result.measured_s);
}

void print_json(const load::options &options, load::result &result)
{
    std::printf("{\"loop\": \"%s\", \"rate\": %g, \"connections\": %u, \"duration_s\": %g, \"warmup_s\": %g, \"targets\": %zu, "
                "\"seed\": %llu, ",
                options.closed > 0 ? "closed" : "open", options.rate,
                options.closed > 0 ? options.closed : options.connections, options.duration_s, options.warmup_s,
                options.targets.size(), static_cast<unsigned long long>(options.seed));
    std::printf("\"requests\": %llu, \"answered\": %llu, \"other_status\": %llu, \"failed\": %llu, \"given_up\": %llu, ",
                static_cast<unsigned long long>(result.requests), static_cast<unsigned long long>(result.answered),
                static_cast<unsigned long long>(result.other_status), static_cast<unsigned long long>(result.failed),
                static_cast<unsigned long long>(result.unanswered));
    std::printf("\"answers_per_s\": %.3f, \"received_bytes\": %llu, \"latency_ms\": {\"mean\": %.6f", answers_per_s(result),
                static_cast<unsigned long long>(result.received_bytes), to_ms(result.latency.mean_ns()));
    for (const double percent : percents)
        std::printf(", \"p%g\": %.6f", percent, percentile_ms(result, percent));
    std::printf(", \"max\": %.6f}, \"lag_ms\": %.6f", percentile_ms(result, 100),
                to_ms(static_cast<double>(result.worst_lag_ns)));
    if (knows_processor_time(result))
        std::printf(", \"server_cpu_ms\": %.6f, \"server_cores\": %.4f", processor_ms(result),
                    result.processor_s / result.measured_s);
    std::printf("}\n");
}

} // namespace

/// Ends with 0 where every request was answered with 200, with 1 where one was not, with 2 where it could not be run.
int main(int argc, char **argv)
try {
    const load::options options = load::read_options(argc, argv);
    load::result result = load::generator(options).run();
    if (options.json)
        print_json(options, result);
    else
        print_text(options, result);
    return result.answered == result.requests ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception &error) {
    std::fprintf(stderr, "flux-load: %s\n", error.what());
    return 2;
}
