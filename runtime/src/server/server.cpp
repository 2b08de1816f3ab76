#include "flux/server/server.hpp"

#include "flux/process/adoption.hpp"
#include "flux/process/crash.hpp"
#include "flux/server/admin_pages.hpp"
#include "flux/server/end_report.hpp"
#include "flux/server/init.hpp"
#include "flux/log.hpp"
#include "flux/server/options.hpp"
#include "flux/flow/program.hpp"
#include "flux/flow/program_option.hpp"
#include "flux/server/program_host.hpp"
#include "flux/server/running_server.hpp"
#include "flux/process/signals.hpp"
#include "flux/server/simulated_server.hpp"
#include "flux/process/takeover.hpp"
#include "flux/version.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <unistd.h>

namespace flux {
namespace {

using clock = std::chrono::steady_clock;

/// How long somebody who was accepted and has asked for nothing yet is waited for.
constexpr std::chrono::seconds accepted_limit{1};
/// How long the program may take until it listens, and how often that is looked at.
constexpr std::chrono::seconds begin_limit{5};
constexpr std::chrono::milliseconds begin_step{5};

// Ends the process with threads still running, so nothing is destroyed. What the program has printed is not lost,
// unless one of those threads is at it, nor what has been logged.
[[noreturn]] void exit_at_once(int status) noexcept
{
    finish_log();
    for (std::FILE *const stream : {stdout, stderr}) {
        if (ftrylockfile(stream) == 0) {
            fflush_unlocked(stream);
            funlockfile(stream);
        }
    }
    _exit(status);
}

/// A server with the process to itself.
class served_process
{
  public:
    served_process(const program &served, const options &chosen, const end_signals &signals,
                   const std::shared_ptr<server_io> &through)
        : program_(served), options_(chosen), signals_(signals), server_(served, chosen, through)
    {
    }
    ~served_process() { reporting = nullptr; }
    served_process(const served_process &) = delete;

    // Gives the exit status, or ends the process with it.
    int run()
    {
        try {
            start();
        } catch (const std::exception &problem) {
            log_line("%s cannot start: %s", program_.name, problem.what());
            exit_at_once(EXIT_FAILURE);
        }
        const end_reason reason = wait();
        if (reason.successor != 0) {
            admin_.reset(); // the successor is asked from now on
        }
        phase_ = server_phase::ends;
        const std::string why = reason.signal != 0 ? std::string("SIG") + sigabbrev_np(reason.signal)
                                                   : "taken over by process " + std::to_string(reason.successor);
        log_line("%s: sources stop, flows have %g s to end", why.c_str(),
                 std::chrono::duration<double>(options_.drain).count());
        // Who was accepted and has asked for nothing yet has a second where somebody waits for this process to end, and
        // else as long as flows have.
        const bool drained = server_.drain(
            reason.signal != 0 ? std::min<clock::duration>(accepted_limit, options_.drain) : options_.drain);
        const int status = drained ? EXIT_SUCCESS : EXIT_FAILURE;
        const bool all_ended = drained || server_.cancel();
        const source_info *const waits = server_.first_source_not_ended();
        if (waits != nullptr) {
            log_line("source %s (%s:%u) is abandoned where it waits, as no signal wakes it", waits->node.name,
                     waits->node.file, waits->node.line);
        }
        if (!all_ended || waits != nullptr) {
            report_at_end();
            exit_at_once(status);
        }
        admin_.reset();
        server_.finish();
        report_at_end();
        finish_log();
        return status;
    }

  private:
    void start()
    {
        start_log();
        adopt_from_service_manager(server_.io().sockets);
        if (!options_.takeover.empty()) {
            takeover_.emplace(options_.takeover, signals_, server_.io().sockets);
        }
        if (options_.report != report_kind::none || !options_.speed_up.empty()) {
            reporting = this;
            std::atexit([] {
                served_process *const here = reporting.load();
                if (here != nullptr && here->process_ == getpid()) {
                    here->report_at_end();
                }
            });
        }
        server_.start();
        if (options_.admin) {
            start_admin(*options_.admin);
        }
    }

    void start_admin(const address &at)
    {
        const char *const strategy = strategy_name(options_.strategy);
        pages_.emplace(program_, server_, strategy, phase_);
        admin_.emplace(at, [this](const admin_request &request) { return pages_->answer(request); });
        log_line("the admin interface listens at %s%s", admin_->at().text().c_str(),
                 admin_->is_local() ? "" : ", for other machines, too");
    }

    // Until it is to end.
    end_reason wait()
    {
        // It listens where it is to, as far as that can be known; before that it does not take over, nor is taken over.
        public_sockets &sockets = server_.io().sockets;
        const auto listens = [&] { return sockets.all_adopted_are_taken() && (!takeover_ || sockets.any_open()); };
        const clock::time_point limit = clock::now() + begin_limit;
        while (!listens() && clock::now() < limit && signals_.wait(-1, clock::now() + begin_step) == 0) {
        }
        sockets.settle_adopted();
        phase_ = server_phase::serves;
        if (!takeover_) {
            return {signals_.wait(), 0};
        }
        takeover_->begun();
        return takeover_->wait();
    }

    // Once, whoever ends the process: also a program that calls `exit`, in a handler of its own for signals or a node.
    // What flows do meanwhile is counted as far as they have come.
    void report_at_end() noexcept
    {
        if (is_reported_.exchange(true)) {
            return;
        }
        try {
            if (!options_.speed_up.empty()) {
                const live_experiment::gain found = server_.experiment().throughput();
                log_line("%s: if it took so much less, throughput would change by %+.1f %% (within %.1f %%, of %zu "
                         "pairs of slices)",
                         options_.speed_up.c_str(), 100 * found.mean, 200 * found.error, found.pairs);
            }
            report_end(program_, server_.facts(), options_);
        } catch (const std::bad_alloc &) {
            log_line("there is no memory for the report");
        }
    }

    const program &program_;
    const options options_;
    const end_signals &signals_;
    running_server server_;
    std::atomic<server_phase> phase_{server_phase::starts};
    std::optional<admin_pages_of_server> pages_;
    std::optional<admin_server> admin_;
    std::optional<takeover> takeover_;
    // A process that is forked off this one reports nothing.
    const pid_t process_ = getpid();
    std::atomic<bool> is_reported_{false};
    // The one that reports when the process exits: `std::atexit` calls a function without arguments.
    static inline std::atomic<served_process *> reporting{nullptr};
};

} // namespace

namespace {

// Why a host does not run it; empty where it does.
std::string why_not_hosted(const options &chosen)
{
    if (chosen.run != run_kind::serve) {
        return "a host asks no program for its help: run it by itself";
    }
    if (chosen.io == io_kind::simulation) {
        return "a host simulates nothing: leave out --flux-io";
    }
    if (chosen.admin || !chosen.takeover.empty()) {
        return std::string("the host does that for all its programs: leave out --flux-") +
               (chosen.admin ? "admin" : "takeover");
    }
    return {};
}

// Reads all options; gives what is wrong. A program that shows its help need not be told the rest.
std::string read_all_options(options &into, const program &served, int &argc, char **argv)
{
    const bool on_loops = served.on_loops || host_of_thread != nullptr;
    into.strategy = on_loops ? strategy_kind::event : into.strategy;
    std::string problem = read_options(into, argc, argv, std::getenv);
    if (problem.empty() && on_loops && into.strategy != strategy_kind::event) {
        problem = "this server runs on event loops alone: leave out --flux-runtime";
    }
    if (problem.empty() && host_of_thread != nullptr) {
        problem = why_not_hosted(into);
    }
    if (problem.empty() && !into.speed_up.empty() && !parse_experiment(into.speed_up, served)) {
        problem = "--flux-speed-up is to be a node of " + std::string(served.name) +
                  ", and what it takes less, 1 to 90 %, as Compress=25%: not `" + into.speed_up + "`";
    }
    return !problem.empty() || into.run != run_kind::serve
               ? problem
               : read_program_options(served.options, served.name, argc, argv, std::getenv, takes_arguments());
}

} // namespace

int serve(const program &served, int argc, char **argv, start_function start)
{
    options chosen;
    std::string problem = read_all_options(chosen, served, argc, argv);
    if (!problem.empty()) {
        host_of_thread != nullptr ? host_of_thread->refuse(problem) : log_line("%s", problem.c_str());
        return 2;
    }
    switch (chosen.run) {
    case run_kind::show_help:
        std::fputs(help_text(served.name, program_help(served.options, served.name), served.on_loops).c_str(), stdout);
        return EXIT_SUCCESS;
    case run_kind::show_version:
        std::printf("flux %s\n", version);
        return EXIT_SUCCESS;
    case run_kind::serve:
        break;
    }
    if (host_of_thread != nullptr) {
        return host_of_thread->run(served, chosen);
    }
    signal_stack stack;
    const on_signal_stack on_stack(stack);
    install_crash_message();
    const end_signals signals;
    const std::shared_ptr<server_io> through = std::make_shared<server_io>();
    const on_server_io opens_for(through);
    if (const int refused = call_init(argc, argv, start, problem); refused != 0) {
        const std::string why = problem.empty() ? "its init gives " + std::to_string(refused) : problem;
        log_line("%s does not start: %s", served.name, why.c_str());
        return EXIT_FAILURE;
    }
    const int status = chosen.io == io_kind::simulation ? simulate(served, chosen)
                                                        : served_process(served, chosen, signals, through).run();
    call_fini();
    return status;
}

} // namespace flux
