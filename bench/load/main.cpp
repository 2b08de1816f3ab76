// flux-load: loads an HTTP server in an open or a closed loop, and reports how long its answers take. README.md says
// how to use it and how to read what it prints.
#include "generator.h"
#include "options.h"

#include <cstdlib>
#include <exception>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <stdexcept>

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

double lag_ms(const load::result &result)
{
    return to_ms(static_cast<double>(result.worst_lag_ns));
}

double answers_per_s(const load::result &result)
{
    return static_cast<double>(result.answers_in_time) / result.measured_s;
}

bool knows_processor_time(const load::result &result)
{
    return result.processor_s >= 0 && result.answers_in_time > 0;
}

/// The server's processor time for an answer, in milliseconds.
double processor_ms(const load::result &result)
{
    return result.processor_s * 1000 / static_cast<double>(result.answers_in_time);
}

double processor_cores(const load::result &result)
{
    return result.processor_s / result.measured_s;
}

void print_text(std::ostream &out, const load::options &options, load::result &result)
{
    if (options.closed > 0)
        out << "closed loop of " << options.closed << " connections";
    else if (!options.arrivals.empty())
        out << "open loop, requests at the times of " << options.arrivals << " on at most " << options.connections
            << " connections";
    else
        out << "open loop, " << options.rate << " requests/s on at most " << options.connections << " connections";
    out << ", " << options.duration_s << " s, " << options.targets.size() << " targets, seed " << options.seed << "\n"
        << "requests    " << result.requests << ": " << result.answered << " answered with 200, "
        << result.other_status << " otherwise, " << result.failed << " failed, " << result.unanswered << " given up\n"
        << std::fixed << std::setprecision(1) << "throughput  " << answers_per_s(result) << " answers/s\n"
        << std::setprecision(3) << "latency ms  mean " << to_ms(result.latency.mean_ns());
    for (const double percent : percents) {
        out << "  p" << std::defaultfloat << std::setprecision(6) << percent;
        out << " " << std::fixed << std::setprecision(3) << percentile_ms(result, percent);
    }
    out << "  max " << percentile_ms(result, 100) << "\n";
    if (options.closed == 0)
        out << "lag ms      max " << lag_ms(result) << " (how late flux-load itself was)\n";
    if (knows_processor_time(result))
        out << "server CPU  " << processor_ms(result) << " ms/answer, " << processor_cores(result) << " cores\n";
}

/// One object. Its numbers are in the units that their names end in.
void print_json(std::ostream &out, const load::options &options, load::result &result)
{
    const bool is_closed = options.closed > 0;
    out << std::setprecision(9) << "{\"loop\": \"" << (is_closed ? "closed" : "open")
        << "\", \"rate\": " << options.rate
        << ", \"connections\": " << (is_closed ? options.closed : options.connections)
        << ", \"duration_s\": " << options.duration_s << ", \"warmup_s\": " << options.warmup_s
        << ", \"targets\": " << options.targets.size() << ", \"seed\": " << options.seed
        << ", \"requests\": " << result.requests << ", \"answered\": " << result.answered
        << ", \"other_status\": " << result.other_status << ", \"failed\": " << result.failed
        << ", \"given_up\": " << result.unanswered << ", \"answers_per_s\": " << answers_per_s(result)
        << ", \"received_bytes\": " << result.received_bytes
        << ", \"latency_ms\": {\"mean\": " << to_ms(result.latency.mean_ns());
    for (const double percent : percents)
        out << ", \"p" << percent << "\": " << percentile_ms(result, percent);
    out << ", \"max\": " << percentile_ms(result, 100) << "}, \"lag_ms\": " << lag_ms(result);
    if (knows_processor_time(result))
        out << ", \"server_cpu_ms\": " << processor_ms(result) << ", \"server_cores\": " << processor_cores(result);
    out << "}\n";
}

/// A line for each request. Throws where the file cannot be written.
void write_each(const load::options &options, const load::result &result)
{
    std::ofstream file(options.each);
    file << std::fixed << std::setprecision(9);
    for (const load::outcome &one : result.each)
        file << one.due_s << ' ' << one.latency_s << '\n';
    if (!file.flush())
        throw std::runtime_error(options.each + " cannot be written");
}

} // namespace

/// Ends with 0 where every request was answered with 200, with 1 where one was not, with 2 where it could not be run.
int main(int argc, char **argv)
try {
    const load::options options = load::read_options(argc, argv);
    load::result result = load::generator(options).run();
    if (!options.each.empty())
        write_each(options, result);
    if (options.json)
        print_json(std::cout, options, result);
    else
        print_text(std::cout, options, result);
    return result.answered == result.requests ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception &error) {
    std::cerr << "flux-load: " << error.what() << "\n";
    return 2;
}
