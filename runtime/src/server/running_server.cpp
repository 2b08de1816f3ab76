#include "flux/server/running_server.hpp"

#include "flux/calls/call_table.hpp"
#include "flux/event/event.hpp"
#include "flux/event/fiber.hpp"
#include "flux/io/proactor.hpp"
#include "flux/io/reactor.hpp"
#include "flux/log.hpp"
#include "flux/process/cpus.hpp"
#include "flux/processor_use.hpp"
#include "flux/strategy/pool.hpp"
#include "flux/strategy/thread.hpp"

#include <algorithm>
#include <cinttypes>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>

namespace flux {
namespace {

/// A source that cannot be woken in this time is abandoned.
constexpr std::chrono::seconds wake_limit{1};
/// How long flows that were cancelled may take to come to their end through their error handlers.
constexpr std::chrono::seconds cancel_limit{1};
/// How often sources are woken and flows counted while the server ends.
constexpr std::chrono::milliseconds drain_step{5};
/// Where flows are that do not end, so many places are said.
constexpr std::size_t most_groups_said = 10;

} // namespace

void running_server::start()
{
    if (options_.max_flows * program_.sources.size() > lock::max_holders) {
        throw std::invalid_argument("its sources may have " + std::to_string(lock::max_holders) +
                                    " flows in progress together; --flux-max-flows is for each");
    }
    strategy_ = make_strategy();
    flow_settings flows{options_.max_flows, options_.deadline, options_.trace_one_in};
    flows.timed_one_in = static_cast<std::uint32_t>(options_.times_one_in);
    if (options_.spans) {
        spans_.emplace(program_, *options_.spans);
        flows.spans = {&*spans_, options_.spans_one_in};
    }
    sources_.emplace(program_, flows, *strategy_, runners_);
    sources_->start();
    if (!options_.speed_up.empty()) {
        experiment_.begin(parse_experiment(options_.speed_up, program_).value());
    }
}

std::unique_ptr<strategy> running_server::make_strategy()
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

std::unique_ptr<strategy> running_server::make_event_loops()
{
    if (const std::string why = calls::why_not_caught(); !why.empty()) {
        throw std::runtime_error(why);
    }
    [[maybe_unused]] static const int once = pthread_atfork(nullptr, nullptr, fiber::leave_in_child);
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

bool running_server::drain(clock::duration patience)
{
    experiment_.end();
    const clock::time_point begin = clock::now();
    accepting &entrances = io().entrances;
    entrances.drain();
    while (entrances.any_open() && clock::now() - begin < patience) {
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
        look();
        if (waited >= options_.drain && (sources_->ended() || waited >= wake_limit)) {
            return false;
        }
        std::this_thread::sleep_for(drain_step);
    }
}

bool running_server::cancel()
{
    log_line("flows cancelled, as they have not ended: %" PRIu64, runners_.flows_in_progress());
    say_where_they_are();
    const clock::time_point limit = clock::now() + cancel_limit;
    io().waits.cancel();
    while (clock::now() < limit) {
        // Again and again, as a source that cannot be woken may start one more.
        sources_->cancel_flows();
        if (runners_.flows_in_progress() == 0) {
            return true;
        }
        std::this_thread::sleep_for(drain_step);
    }
    look();
    {
        const std::lock_guard alone(abandoning_);
        abandoned_ = stragglers_.groups();
    }
    log_line("of these, abandoned where they are: %" PRIu64, runners_.flows_in_progress());
    say_where_they_are();
    return false;
}

void running_server::look_at_flows(stragglers &by) const
{
    by.begin_look(clock::now());
    sources_->look_at_flows(by);
}

void running_server::look()
{
    look_at_flows(stragglers_);
}

// As the last look has seen them.
void running_server::say_where_they_are() const
{
    const std::vector<straggler_group> groups = stragglers_.groups();
    for (std::size_t i = 0; i < std::min(groups.size(), most_groups_said); ++i) {
        log_line("  %s", describe(program_, groups[i]).c_str());
    }
}

void running_server::finish()
{
    sources_->join();
    strategy_->finish();
}

void running_server::let_go()
{
    if (strategy_ != nullptr) {
        strategy_->let_go();
    }
}

// What its strategy knows, and the peers that nobody has accepted yet.
loop_facts running_server::facts_of_loops(facts_wanted wanted)
{
    loop_facts known = strategy_->facts(wanted);
    for (const auto &[at, waiting] : runners_.io()->sockets.waiting_peers()) {
        known.queues.push_back({"listener " + at, waiting});
    }
    return known;
}

run_facts running_server::facts(facts_wanted wanted)
{
    const std::lock_guard alone(abandoning_);
    run_facts known{runners_.total(),
            runners_.total_of_constraints(),
            facts_of_loops(wanted),
            runners_.total_of_failures(),
            abandoned_,
            wanted == facts_wanted::all ? runners_.marks_of_stacks() : std::vector<node_stack_mark>(),
            runners_.times().of_nodes(),
            runners_.times().of_sources(),
            runners_.times().on_edges(),
            runners_.times().of_paths().counts(),
            runners_.times().of_paths().left_out(),
            runners_.times_of_constraints(),
            clock::now() - made_at_,
            processor_use::of_process().time,
            spans_ ? std::optional(spans_->counts()) : std::nullopt};
    std::tie(known.flows_made, known.flow_bytes) = sources_->flows_made();
    known.source_cpu_time = sources_->cpu_time();
    known.measuring_cpu_time = runners_.times().readings() * processor_use::time_of_a_reading();
    if (wanted == facts_wanted::all) {
        known.thread_cost = thread_cost::measured();
    }
    return known;
}

} // namespace flux
