#include "flux/server/admin_pages.hpp"

#include "flux/insight/graph_page.hpp"
#include "flux/insight/json_text.hpp"
#include "flux/insight/metrics.hpp"
#include "flux/insight/report.hpp"
#include "flux/log.hpp"
#include "flux/process/log_tail.hpp"

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <optional>
#include <string_view>

namespace flux {
namespace {

constexpr const char *plain = "text/plain; charset=utf-8";
constexpr const char *json = "application/json";
constexpr const char *html = "text/html; charset=utf-8";

// What a query says of this: `node=A&percent=25`. Empty where it says nothing.
std::string_view value_in(std::string_view query, std::string_view name) noexcept
{
    while (!query.empty()) {
        const std::string_view one = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(one.size() + 1, query.size()));
        if (one.starts_with(name) && one.size() > name.size() && one[name.size()] == '=') {
            return one.substr(name.size() + 1);
        }
    }
    return {};
}

// A number from 1 to `most`, or what is usual; nothing where it is none.
std::optional<std::uint64_t> number_in(std::string_view query, std::string_view name, std::uint64_t usual,
                                       std::uint64_t most) noexcept
{
    const std::string_view text = value_in(query, name);
    std::uint64_t number = usual;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_right = error == std::errc() && end == text.data() + text.size() && number >= 1 && number <= most;
    return text.empty() ? usual : is_right ? std::optional(number) : std::nullopt;
}

} // namespace

/// A page: its path, what it is, and who makes it.
struct admin_pages_of_server::page {
    std::string_view path;
    const char *what;
    admin_answer (admin_pages_of_server::*make)(const admin_request &);
};

const admin_pages_of_server::page admin_pages_of_server::all_pages[] = {
    {"/graph", "the graph of the program, drawn, as flows take it now", &admin_pages_of_server::graph},
    {"/report", "flows, paths, errors and constraints so far, as text", &admin_pages_of_server::report},
    {"/profile", "the same as JSON", &admin_pages_of_server::profile},
    {"/flows", "the flows that are in progress, and where, as JSON", &admin_pages_of_server::flows},
    {"/metrics", "counts for Prometheus and for what reads OpenMetrics", &admin_pages_of_server::metrics},
    {"/log", "the last lines of the log; /log?json as JSON", &admin_pages_of_server::log},
    {"/speed-up", "what a faster node would give; to try it, POST /speed-up?node=NODE&percent=25",
     &admin_pages_of_server::speed_up},
    {"/healthz", "status 200 while the server serves, 503 before and after", &admin_pages_of_server::health},
    {"/graph.json", "what the graph is drawn of", &admin_pages_of_server::graph_data},
    {"/", "this list", &admin_pages_of_server::index},
};

admin_pages_of_server::admin_pages_of_server(const program &of, running_server &server, const char *strategy,
                                             const std::atomic<server_phase> &phase)
    : program_(of), server_(server), strategy_(strategy), phase_(phase), graph_(of)
{
}

admin_answer admin_pages_of_server::answer(const admin_request &request)
{
    const auto found = std::ranges::find(all_pages, request.path, &page::path);
    if (request.method == "POST" && request.path != "/speed-up") {
        return {405, plain, "There is nothing to POST here.\n"};
    }
    if (found != std::end(all_pages)) {
        return (this->*found->make)(request);
    }
    std::string pages = "There is no such page. There are:\n";
    for (const page &each : all_pages) {
        pages += "  " + std::string(each.path) + "\n";
    }
    return {404, plain, std::move(pages)};
}

admin_answer admin_pages_of_server::health(const admin_request &)
{
    switch (phase_.load()) {
    case server_phase::starts:
        return {503, plain, "starts\n"};
    case server_phase::serves:
        return {200, plain, "ok\n"};
    case server_phase::ends:
        break;
    }
    return {503, plain, "ends\n"};
}

run_facts admin_pages_of_server::facts_so_far()
{
    run_facts facts = server_.facts(facts_wanted::all_but_stacks);
    facts.is_running = true;
    return facts;
}

admin_answer admin_pages_of_server::profile(const admin_request &)
{
    run_facts facts = facts_so_far();
    facts.thread_cost = thread_cost::known();
    return {200, json, json_report(program_, facts, strategy_)};
}

admin_answer admin_pages_of_server::report(const admin_request &)
{
    return {200, plain, text_report(program_, facts_so_far())};
}

admin_answer admin_pages_of_server::metrics(const admin_request &request)
{
    const bool open = request.accept.find("application/openmetrics-text") != std::string_view::npos;
    const metrics_format as = open ? metrics_format::open_metrics : metrics_format::prometheus;
    return {200, media_type(as),
            metrics_text(program_, facts_so_far(), strategy_, usage_of_process(), as)};
}

// As JSON one object: `lines` are the last ones, and `before` says how many were logged before these.
admin_answer admin_pages_of_server::log(const admin_request &request)
{
    log_tail::lines last = tail_of_log().last();
    if (request.query != "json") {
        return {200, plain, std::move(last.text)};
    }
    formatted_text text;
    text.add("{\n  \"before\": %" PRIu64 ",\n  \"lines\": [", last.before);
    const char *separator = "\n    ";
    for (std::string_view rest = last.text; !rest.empty(); separator = ",\n    ") {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        text.all += separator + quoted(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return {200, json, text.all + "\n  ]\n}\n"};
}

// One object: `flows` are those in progress, each with the name of its source, its number there, the node that it is at
// (null before the first), and for how long it has been seen there by requests of this page.
admin_answer admin_pages_of_server::flows(const admin_request &)
{
    server_.look_at_flows(seen_);
    formatted_text text;
    text.all = "{\n";
    add_list(text, "flows", seen_.flows(), "", [&](const straggler &each) {
        text.add("\"source\": %s, \"number\": %" PRIu64 ", \"node\": %s, \"seen_ms\": %" PRIu64,
                 quoted(program_.sources[each.source].node.name).c_str(), each.flow,
                 each.node < program_.nodes.size() ? quoted(program_.nodes[each.node].name).c_str() : "null",
                 static_cast<std::uint64_t>(each.time.count()));
    });
    return {200, json, text.all + "}\n"};
}

// A POST begins an experiment, or ends the one that goes on where no node is named; it has an end, as whoever began it
// may be gone then.
admin_answer admin_pages_of_server::speed_up(const admin_request &request)
{
    live_experiment &experiment = server_.experiment();
    if (request.method == "POST") {
        constexpr std::uint64_t usual_slices = 40;
        constexpr std::uint64_t most_slices = 1000;
        const std::string_view node = value_in(request.query, "node");
        const bool is_of_profile = node.empty() && value_in(request.query, "profile") == "off";
        if (!value_in(request.query, "path").empty()) {
            return {400, plain,
                    "A flow's path is known when it has ended, and who ran beside it has gone on by then: name a node "
                    "that only flows on this path come to (node).\n"};
        }
        if (node.empty() && !is_of_profile) {
            experiment.end();
            return {200, json, experiment.json()};
        }
        const std::string_view percent = value_in(request.query, "percent");
        std::optional<experiment_plan> plan =
            is_of_profile
                ? experiment_plan{.is_of_profile = true}
                : parse_experiment(std::string(node) + (percent.empty() ? "" : "=") + std::string(percent), program_);
        const std::optional<std::uint64_t> slices = number_in(request.query, "slices", usual_slices, most_slices);
        const std::optional<std::uint64_t> slice_ms = number_in(request.query, "slice_ms", 250, 10'000);
        if (!plan || !slices || !slice_ms) {
            return {400, plain,
                    "Name a node of the program, what it takes less (percent, 1 to 90), how many slices (1 to 1000) "
                    "and how long each is (slice_ms, 1 to 10000).\n"};
        }
        plan->slices = *slices;
        plan->slice = std::chrono::milliseconds(*slice_ms);
        experiment.begin(*plan);
    }
    return {200, json, experiment.json()};
}

admin_answer admin_pages_of_server::graph(const admin_request &)
{
    return {200, html, std::string(graph_page())};
}

admin_answer admin_pages_of_server::graph_data(const admin_request &)
{
    return {200, json, graph_json(graph_, program_, facts_so_far(), strategy_)};
}

// The names of the pages are the runtime's own, so nothing in them needs an escape.
admin_answer admin_pages_of_server::index(const admin_request &)
{
    std::string list = "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\">"
                       "<meta name=\"viewport\" content=\"width=device-width\"><title>Flux</title>\n<ul>\n";
    for (const page &each : all_pages) {
        const std::string path(each.path);
        list += "<li><a href=\"" + path + "\">" + path + "</a>: " + each.what + "</li>\n";
    }
    return {200, html, list + "</ul>\n</html>\n"};
}

} // namespace flux
