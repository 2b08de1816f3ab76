#include "flux/insight/metrics.hpp"

#include "flux/insight/formatted_text.hpp"
#include "flux/insight/taken_paths.hpp"
#include "flux/version.hpp"

#include <algorithm>
#include <cinttypes>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace flux {
namespace {

/// A name and a value that tell one count of a metric from the others.
struct metric_label {
    std::string_view name;
    std::string_view value;
};

/// One of what a bucket of a histogram counts: what tells it from others, and its value, in nanoseconds.
struct exemplar {
    std::vector<std::pair<std::string_view, std::string>> labels;
    std::uint64_t ns;
};

/// A text of metrics: each is begun once, and then has its values.
class metrics
{
  public:
    explicit metrics(metrics_format as) noexcept : format_(as) {}

    // What only grows. Its name ends with `_total`, which OpenMetrics leaves out in the headers.
    void begin_counter(std::string_view name, const char *help)
    {
        constexpr std::string_view ending = "_total";
        name_ = name;
        const std::string_view family = format_ == metrics_format::open_metrics && name.ends_with(ending)
                                            ? name.substr(0, name.size() - ending.size())
                                            : name;
        begin(family, "counter", help);
    }

    // Of times, in seconds.
    void begin_histogram(std::string_view name, const char *help)
    {
        name_ = name;
        begin(name, "histogram", help);
    }

    // `example(begin, end)` gives one of what took from `begin` to before `end` nanoseconds, or none. Prometheus' own
    // format has no exemplars.
    template <class Example>
    void add_histogram(std::initializer_list<metric_label> labels, const time_counts &counts, Example example)
    {
        const std::string_view begun = name_;
        const std::string family(begun);
        const std::string bucket = family + "_bucket";
        name_ = bucket;
        std::vector<metric_label> with_bound(labels);
        with_bound.push_back({"le", ""});
        const auto add_bucket = [&](std::string_view bound, std::uint64_t times, std::uint64_t from,
                                    std::uint64_t end) {
            with_bound.back().value = bound;
            add_name(with_bound);
            text_.add(" %" PRIu64, times);
            if (format_ == metrics_format::open_metrics) {
                add_exemplar(example(from, end));
            }
            text_.all += '\n';
        };
        std::uint64_t so_far = 0;
        std::uint64_t begin = 0;
        auto step = counts.steps().begin();
        for (std::uint64_t end = shortest_bucket; end <= longest_bucket; end *= 4) {
            for (; step != counts.steps().end() && step->begin < end; ++step) {
                so_far += step->times;
            }
            formatted_text seconds;
            seconds.add("%.15g", static_cast<double>(end) * 1e-9);
            add_bucket(seconds.all, so_far, begin, end);
            begin = end;
        }
        add_bucket("+Inf", counts.times(), begin, std::numeric_limits<std::uint64_t>::max());
        const std::string count = family + "_count";
        name_ = count;
        add(labels, counts.times());
        const std::string sum = family + "_sum";
        name_ = sum;
        add_seconds(labels, static_cast<double>(counts.sum_ns()) * 1e-9);
        name_ = begun;
    }

    void begin_gauge(std::string_view name, const char *help)
    {
        name_ = name;
        begin(name, "gauge", help);
    }

    void add(std::initializer_list<metric_label> labels, std::uint64_t value)
    {
        add_name({labels.begin(), labels.size()});
        text_.add(" %" PRIu64 "\n", value);
    }

    void add_seconds(std::initializer_list<metric_label> labels, double value)
    {
        add_name({labels.begin(), labels.size()});
        text_.add(" %.15g\n", value);
    }

    std::string whole() &&
    {
        text_.all += format_ == metrics_format::open_metrics ? "# EOF\n" : "";
        return std::move(text_.all);
    }

  private:
    // In nanoseconds. Powers of two are where steps of histograms begin, so no step is in two buckets.
    static constexpr std::uint64_t shortest_bucket = std::uint64_t{1} << 10;
    static constexpr std::uint64_t longest_bucket = std::uint64_t{1} << 34;

    void begin(std::string_view family, const char *type, const char *help)
    {
        const std::string name(family);
        text_.add("# HELP %s %s\n# TYPE %s %s\n", name.c_str(), help, name.c_str(), type);
    }

    // As OpenMetrics 1.0 has it, section 4.6.1: at most 128 letters of labels, which numbers and outcomes never are.
    void add_exemplar(const std::optional<exemplar> &of)
    {
        if (!of) {
            return;
        }
        const char *before = " # {";
        for (const auto &[name, value] : of->labels) {
            text_.add("%s%s=\"%s\"", std::exchange(before, ","), std::string(name).c_str(), value.c_str());
        }
        text_.add("} %.15g", static_cast<double>(of->ns) * 1e-9);
    }

    void add_name(std::span<const metric_label> labels)
    {
        text_.all += name_;
        const char *before = "{";
        for (const metric_label &each : labels) {
            text_.all += before;
            text_.all += each.name;
            text_.all += "=\"";
            for (const char letter : each.value) {
                text_.all += letter == '"' || letter == '\\' ? std::string("\\") + letter
                                                             : letter == '\n' ? "\\n" : std::string(1, letter);
            }
            text_.all += '"';
            before = ",";
        }
        text_.all += labels.size() == 0 ? "" : "}";
    }

    const metrics_format format_;
    std::string_view name_;
    formatted_text text_;
};

constexpr double nanoseconds = 1e-9;

void add_process(metrics &to, const process_usage &used)
{
    to.begin_gauge("process_start_time_seconds", "When the process was started, in seconds since 1970.");
    to.add_seconds({}, used.started_seconds);
    to.begin_counter("process_cpu_seconds_total", "Processor time of the process, in the kernel and outside of it.");
    to.add_seconds({}, used.cpu_seconds);
    to.begin_gauge("process_resident_memory_bytes", "Memory that the process has.");
    to.add({}, used.resident_bytes);
    to.begin_gauge("process_open_fds", "Descriptors that are open.");
    to.add({}, used.open_descriptors);
    to.begin_gauge("process_max_fds", "How many descriptors may be open.");
    to.add({}, used.most_descriptors);
}

void add_flows(metrics &to, const program &of, const path_counts &counts)
{
    const auto each_source = [&](auto add) {
        for (source_number number = 0; number < of.sources.size(); ++number) {
            add(of.sources[number].node.name, counts.of_source(number));
        }
    };
    to.begin_counter("flux_flows_started_total", "Flows that sources have started.");
    each_source([&](const char *source, const source_counts &one) { to.add({{"source", source}}, one.started); });
    to.begin_counter("flux_flows_ended_total", "Flows that have come to their end, by how.");
    each_source([&](const char *source, const source_counts &one) {
        for (const outcome exit : all_outcomes) {
            to.add({{"source", source}, {"exit", outcome_name(exit)}}, one.finished[index_of(exit)]);
        }
        to.add({{"source", source}, {"exit", "cancelled"}}, one.cancelled);
    });
    to.begin_gauge("flux_flows_in_progress", "Flows that have started and have not ended.");
    each_source([&](const char *source, const source_counts &one) { to.add({{"source", source}}, one.in_progress()); });
    to.begin_counter("flux_source_failures_total", "How often a source failed, so that there was no flow.");
    each_source([&](const char *source, const source_counts &one) { to.add({{"source", source}}, one.nothing); });
    to.begin_counter("flux_node_calls_total", "Calls of nodes and error handlers by flows that have ended.");
    each_source([&](const char *source, const source_counts &one) { to.add({{"source", source}}, one.counted.calls); });
    to.begin_counter("flux_parks_total", "Waits for the world of flows that have ended.");
    each_source([&](const char *source, const source_counts &one) { to.add({{"source", source}}, one.counted.parks); });
}

void add_paths(metrics &to, const program &of, const path_counts &counts)
{
    std::vector<taken_path> paths = paths_of_flows(of, counts);
    const std::size_t left_out = paths.size() - std::min(paths.size(), most_path_metrics);
    paths.resize(paths.size() - left_out);
    to.begin_counter("flux_path_flows_total", "Flows that took a path; the report says which nodes it has.");
    for (const taken_path &each : paths) {
        to.add({{"source", of.sources[each.of].node.name},
                {"exit", each.end()},
                {"path", std::to_string(each.number)}},
               each.count);
    }
    to.begin_gauge("flux_paths_left_out", "Paths that were taken and have no count here, as others were taken more.");
    to.add({}, left_out);
}

// A flow of the path that most of those took that are in this part of a source's histogram, as far as paths have times.
std::optional<exemplar> example_of(const std::vector<path_time_counts> &paths, std::size_t source, std::uint64_t begin,
                                   std::uint64_t end)
{
    std::optional<exemplar> found;
    std::uint64_t most = 0;
    for (const path_time_counts &each : paths) {
        std::uint64_t times = 0;
        const step_count *longest = nullptr;
        for (const step_count &step : each.whole.steps()) {
            if (each.of.source == source && step.begin >= begin && step.begin < end) {
                times += step.times;
                longest = &step;
            }
        }
        if (times > most) {
            most = times;
            found = {{{"path", std::to_string(each.of.path)}, {"exit", outcome_name(each.of.exit)}},
                     longest->begin + (longest->end - longest->begin) / 2};
        }
    }
    return found;
}

void add_flow_times(metrics &to, const program &of, const run_facts &facts)
{
    to.begin_histogram("flux_flow_seconds", "How long flows take, as those that are timed show it.");
    for (const divided_counts &each : facts.source_times) {
        to.add_histogram({{"source", of.sources[each.number].node.name}}, each.whole,
                         [&](std::uint64_t begin, std::uint64_t end) {
                             return example_of(facts.path_times, each.number, begin, end);
                         });
    }
}

void add_spans(metrics &to, const span_counts &counts)
{
    to.begin_counter("flux_spans_sent_total", "Flows whose spans a collector has taken.");
    to.add({}, counts.sent);
    to.begin_counter("flux_spans_dropped_total", "Flows whose spans no collector has taken.");
    to.add({}, counts.dropped);
}

void add_errors(metrics &to, const program &of, const std::vector<failure_total> &failures)
{
    to.begin_counter("flux_node_errors_total", "Errors of nodes, by their codes.");
    const auto each_failure = [&](auto count) {
        for (const failure_total &each : failures) {
            to.add({{"node", each.node < of.nodes.size() ? of.nodes[each.node].name : ""},
                    {"code", std::to_string(each.error)}},
                   count(each));
        }
    };
    each_failure([](const failure_total &each) { return each.times; });
    to.begin_counter("flux_unhandled_errors_total", "Of these, those that no error handler took.");
    each_failure([](const failure_total &each) { return each.unhandled; });
}

void add_constraints(metrics &to, const program &of, const run_facts &facts)
{
    const std::vector<constraint_totals> &constraints = facts.constraints;
    const auto each_constraint = [&](auto add) {
        for (std::size_t number = 0; number < constraints.size(); ++number) {
            add(metric_label{"constraint", of.constraints[number].name}, constraints[number]);
        }
    };
    // Those that read, and those that change.
    const auto of_both = [&](std::uint64_t constraint_totals::*all, std::uint64_t constraint_totals::*read, auto add) {
        each_constraint([&](metric_label name, const constraint_totals &one) {
            add({name, {"mode", "read"}}, one.*read);
            add({name, {"mode", "write"}}, one.*all - one.*read);
        });
    };
    const auto count = [&](std::initializer_list<metric_label> labels, std::uint64_t times) { to.add(labels, times); };
    to.begin_counter("flux_constraint_acquisitions_total", "How often a constraint was taken, to read or to change.");
    of_both(&constraint_totals::taken, &constraint_totals::taken_to_read, count);
    to.begin_counter("flux_constraint_waits_total", "How often a flow had to wait for a constraint.");
    of_both(&constraint_totals::waited, &constraint_totals::waited_to_read, count);
    to.begin_counter("flux_constraint_wait_seconds_total", "How long flows waited for a constraint, together.");
    of_both(&constraint_totals::waited_ns, &constraint_totals::waited_ns_to_read,
            [&](std::initializer_list<metric_label> labels, std::uint64_t ns) {
                to.add_seconds(labels, static_cast<double>(ns) * nanoseconds);
            });
    // Not all holds are timed, so this one estimates their sum, which may shrink a little: it is no counter.
    to.begin_gauge("flux_constraint_hold_seconds", "How long a constraint is held each time; the mean of those timed.");
    for (constraint_number number = 0; number < constraints.size(); ++number) {
        to.add_seconds({{"constraint", of.constraints[number].name}}, facts.held_each_ns(number) * nanoseconds);
    }
}

void add_constraint_times(metrics &to, const program &of, const std::vector<constraint_time_counts> &constraints)
{
    const auto add_each = [&](std::string_view family, const char *help, time_counts hold_counts::*times) {
        to.begin_histogram(family, help);
        for (std::size_t number = 0; number < constraints.size(); ++number) {
            const metric_label name{"constraint", of.constraints[number].name};
            const auto no_example = [](std::uint64_t, std::uint64_t) { return std::optional<exemplar>(); };
            to.add_histogram({name, {"mode", "read"}}, constraints[number].readers.*times, no_example);
            to.add_histogram({name, {"mode", "write"}}, constraints[number].writers.*times, no_example);
        }
    };
    to.begin_gauge("flux_constraint_distinct_keys", "How many keys of a constraint were taken, to 3.3 %.");
    for (std::size_t number = 0; number < constraints.size(); ++number) {
        if (of.constraints[number].scope != scope::program) {
            to.add({{"constraint", of.constraints[number].name}}, constraints[number].distinct_keys);
        }
    }
    add_each("flux_constraint_wait_time_seconds", "How long those waited for a constraint who had to.",
             &hold_counts::waits);
    add_each("flux_constraint_hold_time_seconds", "How long a constraint is held, as holds that are timed show it.",
             &hold_counts::holds);
}

void add_loops(metrics &to, const program &of, const loop_facts &loops)
{
    const auto by_loop = [&](const std::vector<std::uint64_t> &counts) {
        for (std::size_t number = 0; number < counts.size(); ++number) {
            to.add({{"loop", std::to_string(number)}}, counts[number]);
        }
    };
    to.begin_counter("flux_loop_flows_total", "Flows that have begun on an event loop.");
    by_loop(loops.flows);
    to.begin_gauge("flux_queue_length", "What waits now: flows to begin, calls for a thread, peers to be accepted.");
    for (const queue_length &each : loops.queues) {
        to.add({{"queue", each.where}}, each.waiting);
    }
    to.begin_counter("flux_connections_accepted_total", "Connections that an event loop has accepted.");
    by_loop(loops.accepted);
    to.begin_counter("flux_loop_holds_total", "How often a node was seen that held its event loop for over 1 ms.");
    for (const loop_hold &each : loops.holds) {
        to.add({{"node", of.nodes[each.node].name}}, each.times);
    }
}

void add_memory(metrics &to, const run_facts &facts)
{
    to.begin_gauge("flux_flow_memory_bytes", "Memory of flows in progress, and of those kept for the next.");
    to.add({}, facts.flow_bytes);
    to.begin_gauge("flux_stacks", "Stacks of flows in progress on event loops, and those kept for the next.");
    to.add({}, facts.loops.stacks);
}

// The moment at which the process was started, from the kernel's ticks since the machine was.
double start_of_process()
{
    std::string stat;
    std::getline(std::ifstream("/proc/self/stat"), stat);
    // The name of the program is in parentheses and may have any; field 22 is the 20th behind it (proc(5)).
    std::size_t at = stat.rfind(')');
    for (int field = 2; field < 22 && at != stat.npos; ++field) {
        at = stat.find(' ', at + 1);
    }
    std::ifstream kernel("/proc/stat");
    for (std::string line; std::getline(kernel, line);) {
        if (line.starts_with("btime ") && at != stat.npos) {
            return std::stod(line.substr(6)) +
                   std::stod(stat.substr(at)) / static_cast<double>(sysconf(_SC_CLK_TCK));
        }
    }
    return 0;
}

} // namespace

const char *media_type(metrics_format of) noexcept
{
    return of == metrics_format::open_metrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                              : "text/plain; version=0.0.4; charset=utf-8";
}

process_usage usage_of_process()
{
    process_usage used;
    used.started_seconds = start_of_process();
    rusage usage{};
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        const auto seconds = [](const timeval &of) {
            return static_cast<double>(of.tv_sec) + static_cast<double>(of.tv_usec) * 1e-6;
        };
        used.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    }
    std::uint64_t pages_of_all = 0;
    std::uint64_t resident_pages = 0;
    if (std::ifstream("/proc/self/statm") >> pages_of_all >> resident_pages) {
        used.resident_bytes = resident_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    }
    std::error_code none;
    for (std::filesystem::directory_iterator each("/proc/self/fd", none), end; each != end; each.increment(none)) {
        ++used.open_descriptors;
    }
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        used.most_descriptors = limit.rlim_cur;
    }
    return used;
}

std::string metrics_text(const program &of, const run_facts &facts, const char *strategy, const process_usage &used,
                         metrics_format as)
{
    metrics all(as);
    all.begin_gauge("flux_info", "Always 1: what runs.");
    all.add({{"program", of.name}, {"version", version}, {"runtime", strategy}}, 1);
    add_process(all, used);
    add_flows(all, of, facts.counts);
    add_paths(all, of, facts.counts);
    add_flow_times(all, of, facts);
    add_errors(all, of, facts.failures);
    if (facts.spans) {
        add_spans(all, *facts.spans);
    }
    add_constraints(all, of, facts);
    add_constraint_times(all, of, facts.constraint_times);
    add_loops(all, of, facts.loops);
    add_memory(all, facts);
    return std::move(all).whole();
}

} // namespace flux
