#include "flux/server/options.hpp"

#include "flux/address.hpp"
#include "flux/process/edit_distance.hpp"
#include "flux/process/quantity.hpp"
#include "flux/constraint/lock.hpp"
#include "flux/version.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace flux {
namespace {

/// One option. `set` gives what a right value looks like if this is none, else nothing.
struct option {
    const char *name;
    const char *value; // as help shows it; empty where the option takes none, in brackets where it may be left out
    const char *help;
    std::string (*set)(options &into, std::string_view value);
};

constexpr std::size_t most_workers = 10'000;
constexpr std::size_t most_traced_apart = 1'000'000'000;
constexpr std::size_t most_queued = 1'000'000;
/// Added to a moment it gives one that still fits.
constexpr std::chrono::milliseconds longest = std::chrono::hours(24 * 365 * 30);

std::string set_number(std::size_t &into, std::string_view value, std::size_t most)
{
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || number < 1 || number > most) {
        return "a number from 1 to " + std::to_string(most);
    }
    into = number;
    return {};
}

std::string set_runtime(options &into, std::string_view value)
{
    for (const strategy_kind kind : {strategy_kind::thread, strategy_kind::pool, strategy_kind::event}) {
        if (value == strategy_name(kind)) {
            into.strategy = kind;
            return {};
        }
    }
    return "thread, pool or event";
}

std::string set_io(options &into, std::string_view value)
{
    constexpr std::string_view simulated = "simulation:";
    if (value.starts_with(simulated)) {
        const std::string_view number = value.substr(simulated.size());
        const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), into.seed);
        into.io = io_kind::simulation;
        return error == std::errc() && end == number.data() + number.size() ? "" : "simulation:SEED with a number";
    }
    if (value != "reactor" && value != "proactor") {
        return "reactor, proactor or simulation:SEED";
    }
    into.io = value == "reactor" ? io_kind::reactor : io_kind::proactor;
    into.io_is_chosen = true;
    return {};
}

std::string set_time(std::chrono::milliseconds &into, std::string_view value)
{
    const std::optional<std::int64_t> milliseconds = read_duration(value);
    if (!milliseconds || *milliseconds > longest.count()) {
        return std::string("a duration, as ") + duration_examples;
    }
    into = std::chrono::milliseconds(*milliseconds);
    return {};
}

std::string set_takeover(options &into, std::string_view value)
{
    if (!parse_address("unix:" + std::string(value))) {
        return "a path of 1 to 107 bytes";
    }
    into.takeover = value;
    return {};
}

std::string set_report(options &into, std::string_view value)
{
    const std::string_view kind = value.substr(0, value.find(':'));
    const bool to_file = kind.size() != value.size();
    const std::string_view file = to_file ? value.substr(kind.size() + 1) : std::string_view();
    if ((kind != "text" && kind != "json" && !value.empty()) || (to_file && file.empty())) {
        return "text, json, text:FILE or json:FILE";
    }
    into.report = kind == "json" ? report_kind::json : report_kind::text;
    into.report_file = file;
    return {};
}

std::string set_keys(options &into, std::string_view value)
{
    into.names_keys = value == "on";
    return into.names_keys || value == "off" ? "" : "on or off";
}

// A port alone is one of this machine: who wants to let in others says so.
std::string set_admin(options &into, std::string_view value)
{
    const std::string_view port = value.substr(value.starts_with(':') ? 1 : 0);
    std::uint16_t number = 0;
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
    const bool is_port = error == std::errc() && end == port.data() + port.size();
    into.admin = is_port ? loopback_address(number) : parse_address(value);
    return into.admin ? "" : "a port of this machine alone, an address as 192.0.2.1:9100, or unix:PATH";
}

const option all_options[] = {
    {"runtime", "thread|pool|event", "what runs flows: a thread for each, a pool of threads, event loops (pool)",
     set_runtime},
    {"io", "reactor|proactor|simulation:SEED",
     "how event loops wait: by epoll, by io_uring, in a world of a test (reactor)", set_io},
    {"workers", "N", "how many worker threads (4 a processor, at least 16) or event loops (1 a processor)",
     [](options &into, std::string_view value) { return set_number(into.workers, value, most_workers); }},
    {"max-flows", "N", "how many flows of one source may be in progress; then it waits (1024)",
     [](options &into, std::string_view value) { return set_number(into.max_flows, value, lock::max_holders); }},
    {"queue", "N", "how many flows may wait for a worker thread; then sources wait (1024)",
     [](options &into, std::string_view value) { return set_number(into.queue, value, most_queued); }},
    {"blocking", "N", "on how many threads beside the event loops nodes may run that block (64)",
     [](options &into, std::string_view value) { return set_number(into.blocking, value, most_workers); }},
    {"deadline", "DURATION", "so long after its start a flow fails wherever it waits for the world; 0 for no limit (0)",
     [](options &into, std::string_view value) { return set_time(into.deadline, value); }},
    {"drain", "DURATION", "how long flows may go on after SIGTERM or SIGINT; then they are cancelled (30s)",
     [](options &into, std::string_view value) { return set_time(into.drain, value); }},
    {"takeover", "PATH", "take over from the server with this path, which then ends; and be taken over through it",
     set_takeover},
    {"admin", "PORT|ADDRESS|unix:PATH", "where to ask by HTTP how the server runs: its graph, paths, flows, metrics",
     set_admin},
    {"keys", "on|off", "whether the profile names keys of constraints: who may read it reads them, too (on)",
     set_keys},
    {"speed-up", "NODE[=PERCENT]",
     "slow all else down, half of the time, as if the node took so much less: what would that give? (25%)",
     [](options &into, std::string_view value) {
         into.speed_up = value;
         return std::string();
     }},
    {"report", "[text|json][:FILE]", "say at the end which paths flows took, to standard error or a file", set_report},
    {"trace", "[N]", "say of each flow, or of one in N, what happens to it, as it happens, on standard error",
     [](options &into, std::string_view value) {
         std::size_t one_in = 1;
         std::string right = value.empty() ? "" : set_number(one_in, value, most_traced_apart);
         into.trace_one_in = one_in;
         return right;
     }},
    {"spans", "URL", "send spans of flows to this collector, by OTLP over HTTP: http://localhost:4318",
     [](options &into, std::string_view value) {
         into.spans = parse_span_collector(value);
         return std::string(into.spans ? "" : "the address of a collector by HTTP, as http://localhost:4318");
     }},
    {"spans-one-in", "N", "of one flow in so many, beside those whose callers trace them (1000)",
     [](options &into, std::string_view value) {
         std::size_t one_in = 1;
         std::string right = set_number(one_in, value, most_traced_apart);
         into.spans_one_in = one_in;
         return right;
     }},
    {"help", "", "show this and end",
     [](options &into, std::string_view) {
         into.run = run_kind::show_help;
         return std::string();
     }},
    {"version", "", "show the version of Flux and end",
     [](options &into, std::string_view) {
         into.run = run_kind::show_version;
         return std::string();
     }},
};

constexpr std::string_view prefix = "--flux-";

bool takes_value(const option &of) noexcept
{
    return of.value[0] != '\0' && of.value[0] != '[';
}

// The name of the environment variable for an option: max-flows is FLUX_MAX_FLOWS.
std::string variable_name(const option &of)
{
    std::string name = std::string("FLUX_") + of.name;
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char letter) {
        return letter == '-' ? '_' : static_cast<char>(std::toupper(letter));
    });
    return name;
}

std::string unknown(std::string_view name)
{
    const auto nearer = [name](const option &left, const option &right) {
        return edit_distance(name, left.name) < edit_distance(name, right.name);
    };
    const option &nearest = *std::min_element(std::begin(all_options), std::end(all_options), nearer);
    std::string message = "there is no option " + std::string(prefix) + std::string(name);
    const std::size_t distance = edit_distance(name, nearest.name);
    // Some letters have to be right.
    if (distance <= slip_distance && distance < std::strlen(nearest.name)) {
        message += "; did you mean " + std::string(prefix) + nearest.name + "?";
    }
    return message + " (" + std::string(prefix) + "help lists them)";
}

std::string set(options &into, const option &which, std::string_view value, const std::string &as)
{
    const std::string right = which.set(into, value);
    return right.empty() ? right : as + " is to be " + right + ", not `" + std::string(value) + "`";
}

/// Takes the options of Flux out of the command line.
class command_line
{
  public:
    command_line(options &into, int &argc, char **argv) : into_(into), count_(argc), arguments_(argv) {}

    std::string read()
    {
        int kept = std::min(count_, 1);
        for (next_ = kept; next_ < count_ && std::strcmp(arguments_[next_], "--") != 0; ++next_) {
            const std::string_view argument = arguments_[next_];
            if (!argument.starts_with(prefix) && argument != "--help") {
                arguments_[kept++] = arguments_[next_];
                continue;
            }
            const std::string problem = read_one(argument.substr(argument.starts_with(prefix) ? prefix.size() : 2));
            if (!problem.empty()) {
                return problem;
            }
        }
        while (next_ < count_) {
            arguments_[kept++] = arguments_[next_++];
        }
        count_ = kept;
        arguments_[kept] = nullptr;
        return {};
    }

  private:
    // Reads `name` or `name=value`, taking the next argument for the value where it needs one.
    std::string read_one(std::string_view argument)
    {
        const std::string_view name = argument.substr(0, argument.find('='));
        const bool has_value = name.size() != argument.size();
        const auto which = std::find_if(std::begin(all_options), std::end(all_options),
                                        [name](const option &each) { return each.name == name; });
        if (which == std::end(all_options)) {
            return unknown(name);
        }
        const std::string as = std::string(prefix) + which->name;
        if (has_value && which->value[0] == '\0') {
            return as + " takes no value";
        }
        if (has_value) {
            return set(into_, *which, argument.substr(name.size() + 1), as);
        }
        if (!takes_value(*which)) {
            return set(into_, *which, {}, as);
        }
        if (next_ + 1 == count_) {
            return as + " needs a value: " + which->value;
        }
        return set(into_, *which, arguments_[++next_], as);
    }

    options &into_;
    int &count_;
    char **arguments_;
    int next_ = 0;
};

} // namespace

std::string read_options(options &into, int &argc, char **argv, environment variables)
{
    for (const option &each : all_options) {
        const std::string name = variable_name(each);
        const char *value = each.value[0] == '\0' ? nullptr : variables(name.c_str());
        if (value != nullptr && value[0] != '\0') {
            const std::string problem = set(into, each, value, name);
            if (!problem.empty()) {
                return problem;
            }
        }
    }
    const std::string problem = command_line(into, argc, argv).read();
    // A simulation has a loop of its own, whatever else is said.
    if (problem.empty() && into.io_is_chosen && into.io != io_kind::simulation &&
        into.strategy != strategy_kind::event) {
        return std::string(prefix) + "io says how event loops wait, and this server has none: say " +
               std::string(prefix) + "runtime=event with it";
    }
    if (problem.empty() && into.admin && into.io == io_kind::simulation) {
        return "a simulated server has no admin interface: leave out " + std::string(prefix) + "admin";
    }
    if (problem.empty() && !into.speed_up.empty() && into.io == io_kind::simulation) {
        return "nothing is slowed down in a simulation: leave out " + std::string(prefix) + "speed-up";
    }
    return problem;
}

std::string help_text(const char *program_name, const std::string &program_options, bool on_loops)
{
    std::string text = std::string(program_name) + ", a server built with Flux " + version + "\n\n" + program_options;
    text += program_options.empty() ? "Options of the runtime; the rest of the command line is the program's own.\n\n"
                                    : "Options of the runtime:\n\n";
    for (option each : all_options) {
        if (on_loops && each.name == std::string_view("runtime")) {
            each.value = "event";
            each.help = "event loops, on which alone this server runs";
        }
        std::string flag = "  " + std::string(prefix) + each.name;
        if (each.value[0] != '\0') {
            flag += (takes_value(each) ? " " : "=") + std::string(each.value);
        }
        constexpr std::size_t column = 36;
        flag.resize(std::max(column, flag.size() + 2), ' ');
        text += flag + each.help + "\n";
    }
    return text + "\nA DURATION is " + duration_examples +
           ". What comes after -- is the program's own.\n"
           "Each that takes a value may be in the environment too: FLUX_RUNTIME, FLUX_MAX_FLOWS, ...\n"
           "Flags win. SIGTERM or SIGINT ends the server in good order, a second one at once.\n";
}

const char *strategy_name(strategy_kind which) noexcept
{
    switch (which) {
    case strategy_kind::thread:
        return "thread";
    case strategy_kind::pool:
        return "pool";
    case strategy_kind::event:
        return "event";
    }
    return "";
}

} // namespace flux
