#include "flux/host/host_programs.hpp"

#include "flux/log.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace flux {
namespace {

/// Code is never unloaded, so there is an end to loading it.
constexpr unsigned most_loaded = 1000;
constexpr const char *plain = "text/plain; charset=utf-8";

const char *name_of(hosted_phase phase) noexcept
{
    switch (phase) {
    case hosted_phase::starts:
        return "starts";
    case hosted_phase::serves:
        return "serves";
    case hosted_phase::drains:
        return "drains";
    case hosted_phase::ends:
        return "ends";
    case hosted_phase::ended:
        return "has ended";
    }
    return "";
}

// A line of an answer, which is logged, too.
std::string said(bool done, const std::string &name, const std::string &what)
{
    log_line("%s %s", name.c_str(), what.c_str());
    return (done ? " " : "!") + name + " " + what + "\n";
}

} // namespace

// The version that serves, or would; null where there is none.
hosted_program *host_programs::running(const std::string &name)
{
    const auto found = std::find_if(all_.rbegin(), all_.rend(), [&name](const auto &each) {
        return each->plan().name == name && each->phase() == hosted_phase::serves;
    });
    return found == all_.rend() ? nullptr : found->get();
}

std::string host_programs::apply(const std::vector<planned_program> &plan, const std::vector<std::string> &restarted)
{
    forget_ended();
    std::string done;
    for (const std::string &each : restarted) {
        if (std::ranges::find(plan, each, &planned_program::name) == plan.end()) {
            done += said(false, each, "is not restarted, as no program is called so");
        }
    }
    std::vector<std::string> gone;
    for (const auto &each : all_) {
        const std::string &name = each->plan().name;
        if (running(name) == each.get() && std::ranges::find(plan, name, &planned_program::name) == plan.end()) {
            each->end();
            done += said(true, name, "is unloaded");
        }
    }
    for (const planned_program &each : plan) {
        done += set(each, std::ranges::find(restarted, each.name) != restarted.end());
    }
    return done;
}

std::string host_programs::set(const planned_program &wanted, bool restarts)
{
    hosted_program *const before = running(wanted.name);
    if (before == nullptr) {
        return load(wanted);
    }
    if (restarts) {
        std::vector<descriptor> sockets = before->copy_sockets();
        before->end();
        before->join();
        return load(wanted, std::move(sockets));
    }
    if (before->is_of(wanted)) {
        return said(true, wanted.name, "is as it was");
    }
    if (before->plan().globals != wanted.globals) {
        return said(false, wanted.name,
                    "runs on as it is, as its globals have changed, and versions with other globals cannot run beside "
                    "each other: restart it, --restart " +
                        wanted.name);
    }
    return replace(wanted, *before);
}

std::string host_programs::load(const planned_program &wanted, std::vector<descriptor> sockets)
{
    try {
        const hosted_program &made = begin(wanted, std::move(sockets));
        return said(true, wanted.name, "is loaded, version " + std::to_string(made.version()));
    } catch (const std::runtime_error &problem) {
        return said(false, wanted.name, std::string("is not loaded: ") + problem.what());
    }
}

std::string host_programs::replace(const planned_program &wanted, hosted_program &before)
{
    const std::string old = "version " + std::to_string(before.version());
    try {
        const hosted_program &made = begin(wanted, before.copy_sockets());
        before.retire();
        return said(true, wanted.name,
                    "is replaced: version " + std::to_string(made.version()) + " serves, " + old + " drains");
    } catch (const std::runtime_error &problem) {
        return said(false, wanted.name, "runs on in " + old + ": " + problem.what());
    }
}

// The version serves then. Throws `std::runtime_error` where it does not.
const hosted_program &host_programs::begin(const planned_program &wanted, std::vector<descriptor> sockets)
{
    if (loaded_ == most_loaded) {
        throw std::runtime_error("the host has loaded " + std::to_string(most_loaded) +
                                 " versions, and code is never unloaded: restart the host");
    }
    ++loaded_;
    const std::string copy = folder_ + "/" + wanted.name + "." + std::to_string(loaded_) + ".so";
    auto made = std::make_unique<hosted_program>(wanted, loaded_, copy, runtime_, std::move(sockets));
    if (const std::string problem = made->await_begin(); !problem.empty()) {
        made->join();
        throw std::runtime_error(problem);
    }
    const std::lock_guard alone(lock_);
    return *all_.emplace_back(std::move(made));
}

std::string host_programs::status()
{
    forget_ended();
    std::string lines;
    for (const auto &each : all_) {
        const std::string problem = each->failure();
        lines += (problem.empty() ? " " : "!") + each->plan().name + " version " + std::to_string(each->version()) +
                 " " + name_of(each->phase()) + ", connections: " + std::to_string(each->connections()) +
                 (problem.empty() ? "" : ": " + problem) + "\n";
    }
    return lines.empty() ? " nothing runs\n" : lines;
}

void host_programs::forget_ended()
{
    const std::lock_guard alone(lock_);
    std::erase_if(all_, [](const auto &each) { return each->has_ended() && each->left_nothing(); });
}

bool host_programs::end()
{
    for (const auto &each : all_) {
        each->end();
    }
    for (const auto &each : all_) {
        each->join();
    }
    return std::ranges::all_of(all_, [](const auto &each) { return each->left_nothing(); });
}

admin_answer host_programs::answer(const admin_request &request)
{
    const std::lock_guard alone(lock_);
    const std::size_t slash = request.path.find('/', 1);
    if (slash != request.path.npos) {
        if (hosted_program *const asked = running(std::string(request.path.substr(1, slash - 1)))) {
            admin_request own = request;
            own.path.remove_prefix(slash);
            return asked->answer(own);
        }
    }
    return request.path == "/healthz" ? health() : admin_answer{404, plain, pages()};
}

// Whether all programs of the plan serve.
admin_answer host_programs::health()
{
    std::string lines;
    bool all_serve = true;
    for (const auto &each : all_) {
        const bool serves = each->failure().empty() && each->phase() <= hosted_phase::drains;
        all_serve = all_serve && serves;
        lines += each->plan().name + ": " + (serves ? "ok" : name_of(each->phase())) + "\n";
    }
    return {all_serve ? 200 : 503, plain, lines};
}

std::string host_programs::pages()
{
    std::string text = "There is no such page. There are:\n  /healthz\n";
    for (const auto &each : all_) {
        text += "  /" + each->plan().name + "/\n";
    }
    return text;
}

} // namespace flux
