#include "flux/host/hosted_program.hpp"

#include "flux/log.hpp"
#include "flux/process/crash.hpp"
#include "flux/server/end_report.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <sys/resource.h>
#include <unistd.h>

namespace flux {
namespace {

/// How long a program may take until it listens; one that listens nowhere begins after that.
constexpr std::chrono::seconds begin_limit{2};
constexpr std::chrono::milliseconds begin_step{2};
/// How often it is looked whether the last connection has ended.
constexpr std::chrono::milliseconds drain_step{10};
/// How long somebody who was accepted and has asked for nothing yet is waited for.
constexpr std::chrono::seconds accepted_limit{1};

/// A number of the file's bytes; 0 where there is no file.
std::size_t digest_of(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    return bytes.empty() ? 0 : std::hash<std::string>()(bytes);
}

/// The niceness that the kernel gives such a share for, beside 100 at 0: a step is a factor of 1.25 (sched(7)).
int niceness_of(unsigned weight) noexcept
{
    constexpr double step = 1.25;
    return static_cast<int>(std::lround(std::log(100.0 / weight) / std::log(step)));
}

} // namespace

hosted_program::hosted_program(const planned_program &as, unsigned version, const std::string &copy,
                               const std::string &runtime, std::vector<descriptor> sockets)
    : plan_(as), version_(version)
{
    io_->name = as.name;
    io_->on_failure = [this](const std::string &why) { refuse(why); };
    if (as.connections != 0) {
        io_->entrances.limit(as.connections);
    }
    for (descriptor &each : sockets) {
        io_->sockets.adopt(std::move(each), socket_origin::server_before, "of the version before");
    }
    load(copy, runtime);
    thread_ = std::thread([this] { run_thread(); });
}

hosted_program::~hosted_program()
{
    if (thread_.joinable()) {
        end();
        thread_.join();
    }
    if (is_abandoned_) {
        static_cast<void>(server_.release()); // its threads have it yet
    }
}

void hosted_program::load(const std::string &copy, const std::string &runtime)
{
    digest_ = digest_of(plan_.path);
    std::error_code problem;
    std::filesystem::copy_file(plan_.path, copy, problem);
    if (problem) {
        throw std::runtime_error("cannot copy " + plan_.path + " to " + copy + ": " + problem.message());
    }
    void *const object = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
    const std::string why = object == nullptr ? dlerror() : "";
    std::filesystem::remove(copy, problem); // the kernel has it as long as it is mapped
    if (object == nullptr) {
        throw std::runtime_error("cannot load it: " + why);
    }
    main_ = reinterpret_cast<main_function>(dlsym(object, "main"));
    if (main_ == nullptr) {
        throw std::runtime_error(plan_.path + " is no program: flux build --shared makes one");
    }
    if (dlsym(object, ("flux_runtime_" + runtime).c_str()) == nullptr) {
        throw std::runtime_error(plan_.path + " was built for another version of the runtime, or with other flags, "
                                              "than the host has: build it again, or restart the host");
    }
}

bool hosted_program::is_of(const planned_program &wanted) const
{
    return wanted == plan_ && digest_of(wanted.path) == digest_;
}

void hosted_program::run_thread() noexcept
{
    // Of this thread, and of those that it starts.
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), niceness_of(plan_.weight));
    pthread_setname_np(pthread_self(), plan_.name.substr(0, 15).c_str());
    const on_server_io opens_for(io_);
    host_of_thread = this;
    std::vector<std::string> texts{plan_.name};
    texts.insert(texts.end(), plan_.arguments.begin(), plan_.arguments.end());
    std::vector<char *> arguments;
    std::ranges::transform(texts, std::back_inserter(arguments), [](std::string &each) { return each.data(); });
    arguments.push_back(nullptr);
    const int status = main_(static_cast<int>(texts.size()), arguments.data());
    if (phase_ == hosted_phase::starts) {
        refuse("it ends with status " + std::to_string(status));
    }
    if (!is_abandoned_) {
        io_->end();
    }
    set_phase(hosted_phase::ended);
}

// The first reason is the one that counts.
void hosted_program::refuse(const std::string &why) noexcept
{
    const std::lock_guard alone(lock_);
    if (failure_.empty()) {
        failure_ = why;
    }
    changed_.notify_all();
}

std::string hosted_program::failure()
{
    const std::lock_guard alone(lock_);
    return failure_;
}

void hosted_program::set_phase(hosted_phase now)
{
    const std::lock_guard alone(lock_);
    phase_ = now;
    changed_.notify_all();
}

// Whether the condition holds, before it was to end and before that moment.
template <class Condition>
bool hosted_program::wait(moment until, Condition condition)
{
    std::unique_lock alone(lock_);
    const auto enough = [&] { return condition() || is_to_end_ || !failure_.empty(); };
    until == never ? changed_.wait(alone, enough) : static_cast<void>(changed_.wait_until(alone, until, enough));
    return condition();
}

bool hosted_program::may_retire()
{
    const std::lock_guard alone(lock_);
    return is_to_retire_ && !is_to_end_ && failure_.empty();
}

std::string hosted_program::await_begin()
{
    std::unique_lock alone(lock_);
    changed_.wait(alone, [this] { return phase_ != hosted_phase::starts || !failure_.empty(); });
    return failure_;
}

void hosted_program::retire()
{
    const std::lock_guard alone(lock_);
    is_to_retire_ = true;
    changed_.notify_all();
}

void hosted_program::end()
{
    const std::lock_guard alone(lock_);
    is_to_end_ = true;
    changed_.notify_all();
}

void hosted_program::join()
{
    if (thread_.joinable()) {
        thread_.join();
    }
}

admin_answer hosted_program::answer(const admin_request &request)
{
    const std::lock_guard alone(lock_);
    return pages_ ? pages_->answer(request) : admin_answer{503, "text/plain; charset=utf-8", "it does not run\n"};
}

int hosted_program::run(const program &hosted, const options &chosen)
{
    server_ = std::make_unique<running_server>(hosted, chosen, io_);
    try {
        server_->start();
    } catch (const std::exception &problem) {
        refuse(std::string("it cannot start: ") + problem.what());
        return EXIT_FAILURE;
    }
    begin();
    {
        const std::lock_guard alone(lock_);
        pages_.emplace(hosted, *server_, strategy_name(chosen.strategy), server_phase_);
    }
    wait(never, [this] { return is_to_retire_; });
    const bool retires = may_retire();
    server_phase_ = server_phase::ends;
    if (retires) {
        set_phase(hosted_phase::drains);
        wait_for_connections(chosen.drain);
    }
    set_phase(hosted_phase::ends);
    const bool drained = end_server(chosen, retires);
    {
        const std::lock_guard alone(lock_);
        pages_.reset();
    }
    if (!is_abandoned_) {
        server_->finish();
    }
    report_end(hosted, server_->facts(), chosen);
    if (!is_abandoned_) {
        server_.reset();
    }
    return drained ? EXIT_SUCCESS : EXIT_FAILURE;
}

// Returns when it listens where it is to, as far as that can be known.
void hosted_program::begin()
{
    public_sockets &sockets = io_->sockets;
    const moment limit = clock::now() + begin_limit;
    while (!(sockets.any_open() && sockets.all_adopted_are_taken()) && clock::now() < limit) {
        if (wait(clock::now() + begin_step, [this] { return is_to_end_ || !failure_.empty(); })) {
            return;
        }
    }
    sockets.settle_adopted();
    server_phase_ = server_phase::serves;
    set_phase(hosted_phase::serves);
}

// Nobody is accepted any more; those who are here stay as long as they like, within the limit.
void hosted_program::wait_for_connections(std::chrono::milliseconds limit)
{
    io_->entrances.drain();
    const moment until = clock::now() + limit;
    while ((connections() != 0 || io_->entrances.any_open()) && clock::now() < until) {
        if (wait(clock::now() + drain_step, [this] { return is_to_end_; })) {
            return;
        }
    }
}

// Whether all flows came to their end by themselves.
bool hosted_program::end_server(const options &chosen, bool was_retired)
{
    const auto patience = was_retired ? std::chrono::milliseconds(0)
                                      : std::min<std::chrono::milliseconds>(accepted_limit, chosen.drain);
    const bool drained = server_->drain(patience);
    const bool all_ended = drained || server_->cancel();
    const source_info *const waits = server_->first_source_not_ended();
    if (!all_ended || waits != nullptr) {
        is_abandoned_ = true;
        log_line("version %u is abandoned where it is: its threads run on until the host ends", version_);
    }
    return drained;
}

} // namespace flux
