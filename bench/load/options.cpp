// The command line of flux-load.
#include "options.h"

#include <charconv>
#include <cstdio>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include <getopt.h>

namespace load {

namespace {

constexpr const char *usage =
    "flux-load: loads an HTTP server, and says how long its answers take.\n"
    "\n"
    "  flux-load --rate N [OPTION]... TARGET...         N requests a second, at fixed times (an open loop)\n"
    "  flux-load --arrivals FILE [OPTION]... TARGET...  requests at the times of a file (an open loop)\n"
    "  flux-load --closed N [OPTION]... TARGET...       N connections, a request after each answer (a closed loop)\n"
    "\n"
    "Each request is for one of the TARGETs at random. In bash /{a,b}.jpg?scale={1..8} makes sixteen of them.\n"
    "\n"
    "  --host ADDRESS     numeric address of the server (127.0.0.1)\n"
    "  --port PORT        its port (8080)\n"
    "  --poisson          the N requests a second come at random times, independent of each other\n"
    "  --connections N    the most connections in an open loop (256)\n"
    "  --duration S       seconds that are measured (10)\n"
    "  --warmup S         seconds of load before them (0)\n"
    "  --each FILE        writes a line for each request: when it was due, in seconds from the start, and how long it\n"
    "                     took (-1 where it was not answered)\n"
    "  --timeout S        seconds after which an answer is given up (30)\n"
    "  --seed N           chooses the targets and random times (1)\n"
    "  --pid PID          the server's process: its processor time per answer is reported\n"
    "  --json             the report as one JSON object\n"
    "  --anywhere         allow an address that is not of this machine\n"
    "  --help             this\n";

constexpr option known[] = {
    {"rate", required_argument, nullptr, 'r'},        {"closed", required_argument, nullptr, 'c'},
    {"host", required_argument, nullptr, 'H'},        {"port", required_argument, nullptr, 'p'},
    {"connections", required_argument, nullptr, 'n'}, {"duration", required_argument, nullptr, 'd'},
    {"warmup", required_argument, nullptr, 'w'},      {"timeout", required_argument, nullptr, 't'},
    {"seed", required_argument, nullptr, 's'},        {"pid", required_argument, nullptr, 'P'},
    {"poisson", no_argument, nullptr, 'R'},           {"arrivals", required_argument, nullptr, 'A'},
    {"each", required_argument, nullptr, 'e'},
    {"json", no_argument, nullptr, 'j'},              {"anywhere", no_argument, nullptr, 'a'},
    {"help", no_argument, nullptr, 'h'},              {nullptr, 0, nullptr, 0},
};

[[noreturn]] void refuse(const std::string &why)
{
    std::fprintf(stderr, "flux-load: %s\nTry --help.\n", why.c_str());
    std::exit(2);
}

/// The number that `text` is, between `least` and `most`; or the end of the program.
template <typename Number> Number read_number(const char *name, std::string_view text, Number least, Number most)
{
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || !(number >= least && number <= most))
        refuse(std::string("--") + name + " does not take " + std::string(text));
    return number;
}

/// The times of a file, in seconds, one a line; or the end of the program.
std::vector<double> read_times(const std::string &name)
{
    std::ifstream file(name);
    if (!file)
        refuse(name + " cannot be read");
    std::vector<double> times;
    for (double time = 0; file >> time;) {
        if (!std::isfinite(time) || time < (times.empty() ? 0 : times.back()))
            refuse("line " + std::to_string(times.size() + 1) + " of " + name +
                   " is before the one above, or before 0: sort the times (sort -n)");
        times.push_back(time);
    }
    if (!file.eof() || times.empty())
        refuse("line " + std::to_string(times.size() + 1) + " of " + name + " has no time: write seconds, as 12.5");
    return times;
}

void check(const options &options)
{
    if ((options.rate > 0) + (options.closed > 0) + !options.arrivals.empty() != 1)
        refuse("one of --rate, --arrivals and --closed is needed");
    if (options.poisson && options.rate <= 0)
        refuse("--poisson goes with --rate");
    if (options.targets.empty())
        refuse("there is no target");
    for (const std::string &target : options.targets) {
        if (!target.starts_with('/') || target.find_first_of(" \r\n") != std::string::npos)
            refuse("a target starts with a slash and has no spaces, unlike " + target);
    }
    const bool is_loopback = options.host.starts_with("127.") || options.host == "::1";
    if (!is_loopback && !options.anywhere)
        refuse(options.host + " may be another machine; with --anywhere it is loaded all the same");
}

} // namespace

options read_options(int argc, char **argv)
{
    constexpr double day_s = 86'400;
    options result;
    int index = 0;
    for (int option = 0; (option = getopt_long(argc, argv, "", known, &index)) != -1;) {
        const char *name = known[index].name;
        switch (option) {
        case 'r':
            result.rate = read_number(name, optarg, 1e-3, 1e6);
            break;
        case 'A':
            result.arrivals = optarg;
            break;
        case 'e':
            result.each = optarg;
            break;
        case 'c':
            result.closed = read_number(name, optarg, 1U, 60'000U);
            break;
        case 'H':
            result.host = optarg;
            break;
        case 'p':
            result.port = optarg;
            break;
        case 'n':
            result.connections = read_number(name, optarg, 1U, 60'000U);
            break;
        case 'd':
            result.duration_s = read_number(name, optarg, 1e-3, day_s);
            break;
        case 'w':
            result.warmup_s = read_number(name, optarg, 0.0, day_s);
            break;
        case 't':
            result.timeout_s = read_number(name, optarg, 1e-3, day_s);
            break;
        case 's':
            result.seed = read_number<std::uint64_t>(name, optarg, 0, UINT64_MAX);
            break;
        case 'P':
            result.pid = read_number(name, optarg, 1, 1 << 30);
            break;
        case 'R':
            result.poisson = true;
            break;
        case 'j':
            result.json = true;
            break;
        case 'a':
            result.anywhere = true;
            break;
        case 'h':
            std::fputs(usage, stdout);
            std::exit(0);
        default:
            refuse("the command line is not understood");
        }
    }
    result.targets.assign(argv + optind, argv + argc);
    check(result);
    if (!result.arrivals.empty())
        result.due_s = read_times(result.arrivals);
    return result;
}

} // namespace load
