#include "flux/server/simulated_server.hpp"

#include "flux/event/event.hpp"
#include "flux/log.hpp"
#include "flux/server/options.hpp"
#include "flux/flow/program.hpp"
#include "flux/server/end_report.hpp"
#include "flux/strategy/runner.hpp"
#include "flux/simulation/simulation.hpp"
#include "flux/strategy/sources.hpp"

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <unistd.h>

// What a source of the program may define.
[[gnu::weak]] void simulated_peers(flux::simulation &world);

namespace flux {
namespace {

/// The peers begin so long after the server, whose sources have begun by then.
constexpr std::chrono::seconds start_of_peers{1};
/// When nothing has happened for so long, nothing will, but for sources that never wait.
constexpr std::chrono::minutes silence{2};

class simulated_server
{
  public:
    simulated_server(const program &served, const options &chosen)
        : program_(served), options_(chosen), runners_(served, server_io::current(), chosen.names_keys),
          made_(std::make_unique<simulation>(chosen.seed, faults_of(chosen.seed), start_of_peers)), world_(*made_)
    {
        if (simulated_peers != nullptr) {
            simulated_peers(world_);
        }
        const auto give_world = [this] { return std::unique_ptr<loop_io>(std::move(made_)); };
        strategy_ = make_event_strategy(runners_, served, 1, give_world, {.blocking = 0});
        sources_ = std::make_unique<sources>(
            served, flow_settings{chosen.max_flows, chosen.deadline, chosen.trace_one_in}, *strategy_, runners_);
    }

    int run()
    {
        log_line("%s runs in a simulated world, seed %" PRIu64 ", peers: %zu", program_.name, options_.seed,
                 world_.peer_count());
        sources_->start();
        world_.begin(silence);
        world_.await_idle();
        std::string wrong = world_.unfinished_peers();
        sources_->stop();
        world_.go_on();
        wrong += world_.failed_expectations();
        add_if(wrong, world_.open_streams(), "connections that were not closed");
        add_if(wrong, runners_.flows_in_progress(), "flows that have not ended");
        if (wrong.empty() && sources_->ended()) {
            sources_->join();
            strategy_->finish();
            say();
            return EXIT_SUCCESS;
        }
        say();
        log_line("the world of seed %" PRIu64 " shows a fault:\n%s", options_.seed, wrong.c_str());
        std::fputs(world_.trace().c_str(), stderr);
        // What hangs is not destroyed. The loop is idle, so nobody is at what is written here.
        std::fflush(nullptr);
        _exit(EXIT_FAILURE);
    }

  private:
    static void add_if(std::string &wrong, std::uint64_t count, const char *what)
    {
        if (count != 0) {
            wrong += std::to_string(count) + ' ' + what + '\n';
        }
    }

    void say()
    {
        const run_facts facts = {runners_.total(), runners_.total_of_constraints(), strategy_->facts(),
                                 runners_.total_of_failures(), {}, runners_.marks_of_stacks(),
                                 runners_.times().of_nodes(), runners_.times().of_sources(),
                                 runners_.times().of_paths().counts(), runners_.times().of_paths().left_out(),
                                 runners_.times_of_constraints(), world_.now().time_since_epoch()};
        report_end(program_, facts, options_);
    }

    const program &program_;
    const options &options_;
    runners runners_;
    std::unique_ptr<simulation> made_;
    // The loop's, from the start.
    simulation &world_;
    std::unique_ptr<strategy> strategy_;
    std::unique_ptr<sources> sources_;
};

} // namespace

int simulate(const program &served, const options &chosen)
{
    const auto has_own_thread = [](const source_info &each) { return !each.replicable && each.period_ms == 0; };
    const auto own_thread = std::ranges::find_if(served.sources, has_own_thread);
    if (own_thread != served.sources.end()) {
        log_line("%s cannot be simulated, as its source %s (%s:%u) has a thread of its own: declare it replicable",
                 served.name, own_thread->node.name, own_thread->node.file, own_thread->node.line);
        return EXIT_FAILURE;
    }
    return simulated_server(served, chosen).run();
}

} // namespace flux
