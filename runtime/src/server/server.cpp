#include "flux/server/server.hpp"

#include "flux/io/accepting.hpp"
#include "flux/process/adoption.hpp"
#include "flux/io/blocking_io.hpp"
#include "flux/process/cpus.hpp"
#include "flux/process/crash.hpp"
#include "flux/event/event.hpp"
#include "flux/server/init.hpp"
#include "flux/log.hpp"
#include "flux/server/options.hpp"
#include "flux/strategy/pool.hpp"
#include "flux/flow/program.hpp"
#include "flux/flow/program_option.hpp"
#include "flux/io/proactor.hpp"
#include "flux/io/reactor.hpp"
#include "flux/server/report.hpp"
#include "flux/strategy/runner.hpp"
#include "flux/process/signals.hpp"
#include "flux/simulation/simulated_server.hpp"
#include "flux/strategy/sources.hpp"
#include "flux/process/takeover.hpp"
#include "flux/strategy/thread.hpp"
#include "flux/version.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <thread>
#include <unistd.h>

namespace flux {
namespace {

using clock = std::chrono::steady_clock;

/// A source that cannot be woken in this time is left behind.
constexpr std::chrono::seconds wake_limit{1};
/// How long flows that were cancelled may take to come to their end through their error handlers.
constexpr std::chrono::seconds cancel_limit{1};
/// How often sources are woken and flows counted while the server ends.
constexpr std::chrono::milliseconds drain_step{5};
/// How long the program may take until it listens, and how often that is looked at.
constexpr std::chrono::seconds begin_limit{5};
constexpr std::chrono::milliseconds begin_step{5};

// Ends the process with threads still running, so nothing is destroyed. What the program has printed is not lost,
// unless one of those threads is at it, nor what has been logged.
[[noreturn]] void leave(int status) noexcept
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

class server
{
  public:
    server(const program &served, const options &chosen) : program_(served), options_(chosen), runners_(served) {}
    ~server() { reporting = nullptr; }
    server(const server &) = delete;

    // Gives the exit status, or ends the process with it.
    int run()
    {
        try {
            start();
        } catch (const std::exception &problem) {
            log_line("%s cannot start: %s", program_.name, problem.what());
            leave(EXIT_FAILURE);
        }
        const end_reason reason = wait();
        const std::string why = reason.signal != 0 ? std::string("SIG") + sigabbrev_np(reason.signal)
                                                   : "taken over by process " + std::to_string(reason.successor);
        log_line("%s: sources stop, flows have %g s to end", why.c_str(),
                 std::chrono::duration<double>(options_.drain).count());
        // Who was accepted and has asked for nothing yet has a second where somebody waits for this process to end, and
        // else as long as flows have.
        const bool drained = drain(reason.signal != 0 ? std::min<clock::duration>(wake_limit, options_.drain)
                                                      : options_.drain);
        const int status = drained ? EXIT_SUCCESS : EXIT_FAILURE;
        const bool all_ended = drained || cancel();
        const bool sources_ended = sources_->ended();
        if (!sources_ended) {
            log_line("a source is left behind where it waits, as no signal wakes it");
        }
        if (!all_ended || !sources_ended) {
            report_at_end();
            leave(status);
        }
        sources_->join();
        strategy_->finish();
        report_at_end();
        finish_log();
        return status;
    }

  private:
    void start()
    {
        start_log();
        if (options_.max_flows * program_.sources.size() > lock::max_holders) {
            throw std::invalid_argument("its sources may have " + std::to_string(lock::max_holders) +
                                        " flows in progress together; --flux-max-flows is for each");
        }
        adopt_from_service_manager();
        if (!options_.takeover.empty()) {
            takeover_.emplace(options_.takeover);
        }
        strategy_ = make_strategy();
        if (options_.report != report_kind::none) {
            reporting = this;
            std::atexit([] {
                if (server *const here = reporting.load()) {
                    here->report_at_end();
                }
            });
        }
        sources_.emplace(program_, options_.max_flows, options_.deadline, *strategy_, runners_);
        sources_->start();
    }

    std::unique_ptr<strategy> make_strategy()
    {
        if (options_.strategy == strategy_kind::thread) {
            log_line("%s runs, a thread for each flow", program_.name);
            return make_thread_strategy(runners_);
        }
        if (options_.strategy == strategy_kind::event) {
            return make_event_loops();
        }
        constexpr std::size_t fewest_workers = 16;
        const std::size_t by_processors = std::max(4 * available_cpus(), fewest_workers);
        const std::size_t workers = options_.workers != 0 ? options_.workers : by_processors;
        log_line("%s runs on a pool of %zu threads", program_.name, workers);
        return make_pool_strategy(runners_, workers, options_.queue);
    }

    std::unique_ptr<strategy> make_event_loops()
    {
        const std::size_t loops = options_.workers != 0 ? options_.workers : available_cpus();
        make_loop_io make_io = make_reactor;
        std::string by;
        if (options_.io == io_kind::proactor) {
            try {
                make_proactor(); // as a trial
                make_io = make_proactor;
                by = ", by io_uring";
            } catch (const std::system_error &refused) {
                by = std::string(", by epoll, as io_uring is refused: ") + refused.what();
            }
        }
        log_line("%s runs on %zu event loop%s%s", program_.name, loops, loops == 1 ? "" : "s", by.c_str());
        return make_event_strategy(runners_, program_, loops, make_io, {.blocking = options_.blocking});
    }

    // Until it is to end.
    end_reason wait()
    {
        // It listens where it is to, as far as that can be known; before that it does not take over, nor is taken over.
        const auto listens = [this] { return all_adopted_are_taken() && (!takeover_ || any_public_socket()); };
        const clock::time_point limit = clock::now() + begin_limit;
        while (!listens() && clock::now() < limit && wait_for_end(-1, clock::now() + begin_step) == 0) {
        }
        settle_adopted();
        if (!takeover_) {
            return {wait_for_end(), 0};
        }
        takeover_->begun();
        return takeover_->wait();
    }

    // True when all flows have ended and no source that can be woken will start another. Before that, until `patience`
    // is over, sources give their flows all who have been accepted.
    bool drain(clock::duration patience)
    {
        allow_interrupts();
        const clock::time_point begin = clock::now();
        accepting_.drain();
        while (accepting_.any_open() && clock::now() - begin < patience) {
            std::this_thread::sleep_for(drain_step);
        }
        while (true) {
            sources_->stop();
            const clock::duration waited = clock::now() - begin;
            // In this order: a source that has ended starts no more flows.
            const bool final_count = sources_->ended() || waited >= wake_limit;
            if (final_count && runners_.flows_in_progress() == 0) {
                return true;
            }
            if (waited >= options_.drain && (sources_->ended() || waited >= wake_limit)) {
                return false;
            }
            std::this_thread::sleep_for(drain_step);
        }
    }

    // Has the flows that are left fail in what they wait for. True when they all have come to their end so.
    bool cancel()
    {
        log_line("flows cancelled, as they have not ended: %" PRIu64, runners_.flows_in_progress());
        const clock::time_point limit = clock::now() + cancel_limit;
        cancel_blocking_waits();
        while (clock::now() < limit) {
            // Again and again, as a source that cannot be woken may start one more.
            sources_->cancel_flows();
            if (runners_.flows_in_progress() == 0) {
                return true;
            }
            std::this_thread::sleep_for(drain_step);
        }
        log_line("of these, left behind where they are: %" PRIu64, runners_.flows_in_progress());
        return false;
    }

    // Once, whoever ends the process: also a program that calls `exit`, in a handler of its own for signals or a node.
    // What flows do meanwhile is counted as far as they have come.
    void report_at_end() noexcept
    {
        if (is_reported_.exchange(true)) {
            return;
        }
        try {
            report(program_, runners_.total(), runners_.total_of_constraints(), strategy_->facts(), options_);
        } catch (const std::bad_alloc &) {
            log_line("there is no memory for the report");
        }
    }

    const program &program_;
    const options options_;
    accepting accepting_;
    runners runners_;
    std::unique_ptr<strategy> strategy_;
    std::optional<sources> sources_;
    std::optional<takeover> takeover_;
    std::atomic<bool> is_reported_{false};
    // The one that reports when the process exits.
    static inline std::atomic<server *> reporting{nullptr};
};

} // namespace

int serve(const program &served, int argc, char **argv, start_function start)
{
    options chosen;
    std::string problem = read_options(chosen, argc, argv, std::getenv);
    if (!problem.empty()) {
        log_line("%s", problem.c_str());
        return 2;
    }
    switch (chosen.run) {
    case run_kind::show_help:
        std::fputs(help_text(served.name, program_help(served.options, served.name)).c_str(), stdout);
        return EXIT_SUCCESS;
    case run_kind::show_version:
        std::printf("flux %s\n", version);
        return EXIT_SUCCESS;
    case run_kind::serve:
        break;
    }
    problem = read_program_options(served.options, served.name, argc, argv, std::getenv, takes_arguments());
    if (!problem.empty()) {
        log_line("%s", problem.c_str());
        return 2;
    }
    signal_stack stack;
    const on_signal_stack here(stack);
    install_crash_message(served);
    catch_signals();
    if (const int refused = call_init(argc, argv, start, problem); refused != 0) {
        const std::string why = problem.empty() ? "its init gives " + std::to_string(refused) : problem;
        log_line("%s does not start: %s", served.name, why.c_str());
        return EXIT_FAILURE;
    }
    const int status = chosen.io == io_kind::simulation ? simulate(served, chosen) : server(served, chosen).run();
    call_fini();
    return status;
}

} // namespace flux
