#include "flux/strategy/sources.hpp"

#include "flux/io/park.hpp"
#include "flux/simulation/simulation.hpp"
#include "../support/running_source.hpp"
#include "../support/patience.hpp"
#include "../support/standard_error.hpp"

#include <algorithm>
#include <cerrno>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace {

using namespace std::chrono_literals;
using flux::park_end;
using flux::strategy_kind;

bool is_at(flux::node_number node)
{
    return flux::running_flow->position() == node;
}

/// Values of a flow that passes Begin, no line but the empty one, and End.
sample::Listen_out plain()
{
    return {2, 2, -1};
}

/// A source that waits through the runtime for somebody who never comes; false, as what it gives is cancelled.
bool nobody_comes()
{
    flux::park here(*flux::running_flow, flux::park_reason::flow);
    EXPECT_EQ(here.wait(), park_end::cancelled);
    return false;
}

/// Makes `count` flows, all instances together, and then waits.
std::function<bool(sample::Listen_out &)> flows(int count)
{
    auto left = std::make_shared<std::atomic<int>>(count);
    return [=](sample::Listen_out &out) {
        if (left->fetch_sub(1) <= 0) {
            return nobody_comes();
        }
        out = plain();
        return true;
    };
}

/// A place where flows wait until the test lets them go on.
class gate
{
  public:
    void wait()
    {
        flux::park here(*flux::running_flow, flux::park_reason::flow);
        {
            const std::lock_guard alone(lock_);
            parks_.push_back(&here);
        }
        here.wait();
    }

    std::size_t waiting()
    {
        const std::lock_guard alone(lock_);
        return parks_.size();
    }

    void open()
    {
        const std::lock_guard alone(lock_);
        for (flux::park *const each : parks_) {
            each->end(park_end::completed);
        }
        parks_.clear();
    }

  private:
    std::mutex lock_;
    std::vector<flux::park *> parks_;
};

/// Listen is replicable; Plain makes flows too, and is not.
constexpr flux::source_info both[] = {
    flux::make_replicable_source<sample::Listen_produce, sample::Main_run>(
        {"Listen", "sample.flux", 8}, sample::function_Listen_produce, sample::function_Main_run),
    sample::sources[sample::source_Spread],
};
constexpr std::size_t source_Plain = 1;

flux::program with(std::span<const flux::source_info> sources)
{
    flux::program in = sample::program;
    in.sources = sources;
    return in;
}

const flux::program only_listen = with(std::span(both).first(1));
const flux::program listen_and_plain = with(both);

/// The sources of a program run, as those of a server do, and end in good order.
class running_sources
{
  public:
    running_sources(const flux::program &in, strategy_kind kind, std::size_t max_flows, std::size_t workers)
        : all(in), strategy_(make(kind, in, workers)), sources(in, {.most = max_flows}, *strategy_, all)
    {
        sources.start();
    }

    ~running_sources()
    {
        await([this] {
            sources.stop();
            return sources.ended() && all.flows_in_progress() == 0;
        });
        sources.join();
        strategy_->finish();
        sample::listen = nullptr;
        sample::work = nullptr;
    }

    flux::source_counts counts(std::size_t number = 0) { return all.total().of_source(number); }

    std::uint64_t finished(std::size_t number = 0)
    {
        const flux::source_counts now = counts(number);
        return now.started - now.in_progress();
    }

    flux::loop_facts facts() { return strategy_->facts(); }

    flux::runners all;

  private:
    std::unique_ptr<flux::strategy> make(strategy_kind kind, const flux::program &in, std::size_t workers)
    {
        return kind == strategy_kind::thread ? flux::make_thread_strategy(all)
               : kind == strategy_kind::pool ? flux::make_pool_strategy(all, workers, 4)
                                             : flux::make_event_strategy(all, in, workers, flux::make_reactor);
    }

    std::unique_ptr<flux::strategy> strategy_;

  public:
    flux::sources sources;
};

/// On which threads a flow was seen, by its number; number 0 has those on which values were made.
class sightings
{
  public:
    void see(std::uint64_t flow)
    {
        const std::lock_guard alone(lock_);
        threads_[flow].insert(std::this_thread::get_id());
    }

    std::map<std::uint64_t, std::set<std::thread::id>> all()
    {
        const std::lock_guard alone(lock_);
        return threads_;
    }

  private:
    std::mutex lock_;
    std::map<std::uint64_t, std::set<std::thread::id>> threads_;
};

std::vector<std::uint64_t> numbers_up_to(std::uint64_t last)
{
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t number = 1; number <= last; ++number) {
        numbers.push_back(number);
    }
    return numbers;
}

TEST(Sources, AReplicableOneIsOneThreadWhereThereAreNoLoops)
{
    for (const strategy_kind kind : {strategy_kind::thread, strategy_kind::pool}) {
        sightings seen;
        auto make = flows(50);
        sample::listen = [&](sample::Listen_out &out) {
            seen.see(0);
            return make(out);
        };
        sample::work = [&](const sample::Listen_out &) { seen.see(flux::running_flow->id()); };
        {
            running_sources running(only_listen, kind, 100, 3);
            await([&] { return running.finished() == 50; });
        }
        const auto threads = seen.all();
        EXPECT_EQ(threads.at(0).size(), 1u);
        EXPECT_EQ(threads.size(), 51u);
    }
}

TEST(Sources, AReplicableOneRunsOnEachLoopAndItsFlowsStayThere)
{
    constexpr std::uint64_t count = 300;
    sightings seen;
    auto make = flows(count);
    gate both_nodes;
    sample::listen = [&](sample::Listen_out &out) {
        // Each loop makes some: the first waits until all do.
        seen.see(0);
        await([&] { return seen.all().at(0).size() == 3; });
        const bool made = make(out);
        if (made) {
            seen.see(flux::running_flow->id());
        }
        return made;
    };
    sample::work = [&](const sample::Listen_out &) {
        seen.see(flux::running_flow->id());
        if (is_at(sample::node_Begin)) {
            both_nodes.wait();
        }
    };
    {
        running_sources running(only_listen, strategy_kind::event, 1000, 3);
        await([&] { return both_nodes.waiting() == count; });
        both_nodes.open();
        await([&] { return running.finished() == count; });
        EXPECT_EQ(running.counts().finished[flux::index_of(flux::outcome::done)], count);
        EXPECT_EQ(running.counts().nothing, 0u);
    }
    std::set<std::thread::id> of_flows;
    std::set<std::uint64_t> numbers;
    for (const auto &[flow, threads] : seen.all()) {
        if (flow != 0) {
            EXPECT_EQ(threads.size(), 1u) << "flow " << flow;
            of_flows.insert(threads.begin(), threads.end());
            numbers.insert(flow);
        }
    }
    EXPECT_EQ(of_flows, seen.all().at(0));
    EXPECT_EQ(numbers.size(), count) << "no two flows of a source have one number";
}

TEST(Sources, FlowsOfOneLoopBeginInTheOrderInWhichTheyWereMade)
{
    std::vector<std::uint64_t> begun; // on the one loop
    sample::work = [&](const sample::Listen_out &) {
        if (is_at(sample::node_Begin)) {
            begun.push_back(flux::running_flow->id());
        }
    };
    sample::listen = flows(200);
    {
        running_sources running(only_listen, strategy_kind::event, 1000, 1);
        await([&] { return running.finished() == 200; });
    }
    EXPECT_EQ(begun, numbers_up_to(200));
}

/// Which flows began, on the one loop: `l` for one of a source there, `t` for one of a thread.
std::string begun_in_order;

/// These call no node, so they never give way.
flux::outcome make_quietly(flux::flow &flow, sample::Listen_out &values)
{
    return sample::listen(values) ? flow.done() : flow.failed();
}

flux::outcome note_beginning(flux::flow &flow, sample::Listen_out &)
{
    begun_in_order += flow.from().home() == nullptr ? 't' : 'l';
    return flow.done();
}

TEST(Sources, FlowsOfThreadsAndOfTheLoopStartInTurns)
{
    const flux::source_info noting[] = {
        flux::make_replicable_source<make_quietly, note_beginning>(
            {"Listen", "sample.flux", 8}, sample::function_Listen_produce, sample::function_Main_run),
        flux::make_source<make_quietly, note_beginning>({"Plain", "sample.flux", 9}, sample::function_Listen_produce,
                                                        sample::function_Main_run)};
    const flux::program in = with(noting);
    begun_in_order.clear();
    std::atomic<int> from_thread{0};
    sample::listen = [&](sample::Listen_out &) {
        if (flux::running_flow->from().home() == nullptr) {
            return ++from_thread <= 50 || sample::nothing_comes();
        }
        // The loop is held until all of the thread's flows wait.
        await([&] { return from_thread > 50; });
        return begun_in_order.size() < 300 || nobody_comes();
    };
    {
        running_sources running(in, strategy_kind::event, 1000, 1);
        await([&] { return running.finished(0) + running.finished(source_Plain) >= 300; });
    }
    const std::size_t begin = begun_in_order.find('l');
    const std::string both_wait = begun_in_order.substr(begin, begun_in_order.rfind('t') - begin);
    EXPECT_EQ(std::count(begun_in_order.begin(), begun_in_order.end(), 't'), 50);
    // In turns but where the machine has interrupted the loop: it may have given way then.
    EXPECT_EQ(both_wait.find(std::string(20, 't')), std::string::npos) << begun_in_order;
    EXPECT_EQ(both_wait.find(std::string(20, 'l')), std::string::npos) << begun_in_order;
}

TEST(Sources, OneThatNeverWaitsIsNeverAheadOfItsFlows)
{
    const flux::source_info noting[] = {flux::make_replicable_source<make_quietly, note_beginning>(
        {"Listen", "sample.flux", 8}, sample::function_Listen_produce, sample::function_Main_run)};
    const flux::program in = with(noting);
    begun_in_order.clear();
    std::vector<std::size_t> begun_before; // by how many flows were made before
    auto make = flows(1000);
    sample::listen = [&](sample::Listen_out &out) {
        begun_before.push_back(begun_in_order.size());
        return make(out);
    };
    {
        running_sources running(in, strategy_kind::event, 1000, 1);
        await([&] { return running.finished() == 1000; });
    }
    ASSERT_EQ(begun_before.size(), 1001u);
    for (std::size_t made = 0; made < begun_before.size(); ++made) {
        EXPECT_EQ(begun_before[made], made);
    }
}

/// Two branches, of which the first waits; the second writes down where it runs.
gate first_branch;
sightings of_branches;

flux::outcome wait_in_branch(flux::flow &flow, const int &)
{
    first_branch.wait();
    return flow.done();
}

flux::outcome note_branch(flux::flow &flow, const int &number)
{
    of_branches.see(static_cast<std::uint64_t>(number));
    return flow.done();
}

flux::outcome run_branches(flux::flow &flow, sample::Listen_out &)
{
    const int number = static_cast<int>(flow.id());
    of_branches.see(flow.id());
    flux::branch first(flow, sample::function_Beat_run, wait_in_branch, number);
    flux::branch second(flow, sample::function_Beat_run, note_branch, number);
    const flux::outcome exit = flux::join(flow, first, second);
    of_branches.see(flow.id());
    EXPECT_EQ(exit, flux::outcome::done);
    return flow.done();
}

TEST(Sources, TheBranchesOfTheirFlowsStayOnTheLoopToo)
{
    const flux::source_info forking[] = {flux::make_replicable_source<sample::Listen_produce, run_branches>(
        {"Listen", "sample.flux", 8}, sample::function_Listen_produce, sample::function_Main_run)};
    const flux::program in = with(forking);
    sample::listen = flows(100);
    {
        running_sources running(in, strategy_kind::event, 1000, 3);
        // Each second branch is begun by its loop, as the flow waits in the first.
        await([&] { return first_branch.waiting() == 100; });
        await([&] { return of_branches.all().size() == 100; });
        first_branch.open();
        await([&] { return running.finished() == 100; });
    }
    for (const auto &[flow, threads] : of_branches.all()) {
        EXPECT_EQ(threads.size(), 1u) << "flow " << flow;
    }
}

TEST(Sources, TheInstancesShareTheBoundOfFlowsInProgress)
{
    gate progress;
    sightings seen;
    auto make = flows(1000);
    sample::listen = [&](sample::Listen_out &out) {
        seen.see(0);
        return make(out);
    };
    sample::work = [&](const sample::Listen_out &) {
        if (is_at(sample::node_Begin)) {
            progress.wait();
        }
    };
    running_sources running(only_listen, strategy_kind::event, 5, 2);
    await([&] { return progress.waiting() == 5 && seen.all().at(0).size() == 2; });
    // Those that end make room for others.
    while (running.finished() < 1000) {
        EXPECT_LE(progress.waiting(), 5u);
        progress.open();
    }
}

TEST(Sources, ThereAreNoMoreInstancesThanFlowsMayBeInProgress)
{
    sightings seen;
    std::atomic<int> in_progress{0};
    auto make = flows(100);
    sample::listen = [&](sample::Listen_out &out) {
        seen.see(0);
        return make(out);
    };
    sample::work = [&](const sample::Listen_out &) {
        if (is_at(sample::node_Begin)) {
            EXPECT_EQ(++in_progress, 1);
        } else if (is_at(sample::node_End)) {
            --in_progress;
        }
    };
    running_sources running(only_listen, strategy_kind::event, 1, 3);
    await([&] { return running.finished() == 100; });
    EXPECT_EQ(seen.all().at(0).size(), 1u);
}

TEST(Sources, OneThatWaitsLeavesTheLoopToOthersAndIsEnded)
{
    int left = 100; // by the thread
    sample::listen = [&](sample::Listen_out &out) {
        if (flux::running_flow->from().home() != nullptr) {
            return nobody_comes();
        }
        out = plain();
        return left-- > 0 || sample::nothing_comes();
    };
    running_sources running(listen_and_plain, strategy_kind::event, 1000, 2);
    await([&] { return running.finished(source_Plain) == 100; });
    await([&] {
        running.sources.stop();
        return running.sources.ended();
    });
    EXPECT_EQ(running.counts().nothing, 0u) << "to be cancelled at the end is no failure";
}

TEST(Sources, OneThatWaitsOnAThreadOfItsOwnIsEndedToo)
{
    sample::listen = flows(3);
    running_sources running(only_listen, strategy_kind::pool, 10, 2);
    await([&] { return running.finished() == 3; });
    await([&] {
        running.sources.stop();
        return running.sources.ended();
    });
    EXPECT_EQ(running.counts().nothing, 0u);
}

TEST(Sources, WhatWasMadeAlthoughItWasCancelledRunsAsAnyFlow)
{
    std::atomic<int> waiting{0};
    std::atomic<int> cancelled{0};
    sample::listen = [&](sample::Listen_out &out) {
        ++waiting;
        nobody_comes();
        cancelled += flux::running_flow->cancelled();
        out = plain();
        return true;
    };
    std::atomic<int> ran{0};
    sample::work = [&](const sample::Listen_out &) {
        if (is_at(sample::node_Begin)) {
            flux::park here(*flux::running_flow, flux::park_reason::flow);
            ran += here.wait(in(1ms)) == park_end::timed_out;
        }
    };
    {
        running_sources running(only_listen, strategy_kind::event, 10, 2);
        await([&] { return waiting == 2; });
    }
    EXPECT_EQ(cancelled, 2);
    EXPECT_EQ(ran, 2);
}

TEST(Sources, OneThatDoesNotWaitWhenItIsStoppedLetsGoAllTheSame)
{
    for (const strategy_kind kind : {strategy_kind::pool, strategy_kind::event}) {
        std::atomic<int> at_it{0};
        std::atomic<bool> stopped{false};
        std::atomic<int> let_go{0};
        const int instances = kind == strategy_kind::event ? 2 : 1;
        sample::listen = [&](sample::Listen_out &out) {
            flux::running_flow->from().when_stopped([&] { let_go += !nobody_comes(); });
            ++at_it;
            await([&] { return stopped.load(); });
            out = plain();
            return true;
        };
        running_sources running(only_listen, kind, 10, 2);
        await([&] { return at_it == instances; });
        running.sources.stop();
        stopped = true;
        await([&] { return running.sources.ended(); });
        EXPECT_EQ(let_go, instances);
    }
}

TEST(Sources, StopsWhileItsBoundIsReached)
{
    gate progress;
    sample::listen = flows(1000);
    sample::work = [&](const sample::Listen_out &) {
        if (is_at(sample::node_Begin)) {
            progress.wait();
        }
    };
    running_sources running(only_listen, strategy_kind::event, 6, 2);
    await([&] { return progress.waiting() == 6; });
    running.sources.stop();
    await([&] {
        progress.open();
        running.sources.stop();
        return running.sources.ended();
    });
    EXPECT_LE(running.counts().started, 8u) << "no instance makes more than the one that it has begun";
}

TEST(Sources, OneThatKeepsFailingPausesAndHoldsNothingUp)
{
    std::atomic<int> calls{0};
    // On a busy machine a try may take so long that it counts as a wait, and pauses begin anew.
    std::atomic<int> long_pauses{0};
    std::optional<stopwatch> since_last;
    int ran_before = 0;
    // Of such pauses, those in which the loop ran flows of others.
    std::atomic<int> shared_pauses{0};
    std::atomic<int> ran{0};
    sample::work = [&](const sample::Listen_out &) { ++ran; };
    sample::listen = [&](sample::Listen_out &out) {
        if (flux::running_flow->from().home() != nullptr) {
            ++calls;
            if (since_last && since_last->has_passed(100ms)) {
                ++long_pauses;
                shared_pauses += ran != ran_before ? 1 : 0;
            }
            since_last.emplace();
            ran_before = ran;
            return false;
        }
        dawdle(1ms);
        out = plain();
        return true;
    };
    const char *const named = "flux: source Listen (sample.flux:8) fails again and again without waiting for anything, "
                              "with error 24 (Too many open files): it is tried every 100 ms, or when one of its flows "
                              "ends\n";
    const captured_standard_error standard_error;
    {
        running_sources running(listen_and_plain, strategy_kind::event, 1000, 1);
        await([&] {
            return calls >= 150 && long_pauses >= 5 && shared_pauses >= 1 && standard_error.has_said(named);
        });
    }
    EXPECT_GT(ran, 0);
}

TEST(Sources, OneThatBlocksItsLoopIsNamed)
{
    auto make = flows(3);
    std::atomic<running_sources *> watched{nullptr};
    sample::listen = [&](sample::Listen_out &out) {
        // It blocks until it is found, however late the watchdog comes to look.
        await([&] { return watched.load() != nullptr && !watched.load()->facts().holds.empty(); });
        return make(out);
    };
    testing::internal::CaptureStderr();
    {
        running_sources running(only_listen, strategy_kind::event, 10, 1);
        watched = &running;
        await([&] { return running.finished() == 3; });
        EXPECT_EQ(running.facts().holds.front().node, sample::node_Listen);
    }
    const std::string said = testing::internal::GetCapturedStderr();
    // Under a sanitizer it computes for longer than it sleeps.
    EXPECT_NE(said.find("flux: Listen (sample.flux:1) holds its event loop for more than a millisecond: it "),
              std::string::npos)
        << said;
}

constexpr flux::source_info timers[] = {
    flux::make_timer<sample::Beat_run>({"every 1h", "sample.flux", 1}, 3'600'000, sample::function_Beat_run),
    flux::make_timer<sample::Beat_run>({"every 10ms", "sample.flux", 2}, 10, sample::function_Beat_run),
};
const flux::program hourly = with(std::span(timers).first(1));
const flux::program hourly_and_often = with(timers);

TEST(Sources, ATimerThatWaitsEndsWhenItIsTold)
{
    for (const strategy_kind kind : {strategy_kind::thread, strategy_kind::pool, strategy_kind::event}) {
        running_sources running(hourly_and_often, kind, 10, 3);
        await([&] { return running.finished(1) >= 3; });
        running.sources.stop(); // once is enough: it is not in a system call that it could come too late for
        await([&] { return running.sources.ended(); });
        const flux::source_counts of_hourly = running.counts(0);
        EXPECT_EQ(of_hourly.started + of_hourly.nothing, 0u);
        const flux::source_counts of_often = running.counts(1);
        EXPECT_EQ(of_often.nothing, 0u);
        EXPECT_EQ(of_often.counted.parks, of_often.all_finished()) << "each beat is waited for";
    }
}

TEST(Sources, FlowsOfATimerBeginOnAnyLoop)
{
    std::mutex guard;
    std::set<std::thread::id> threads;
    sample::work = [&](const sample::Listen_out &) {
        EXPECT_EQ(flux::running_flow->from().home(), nullptr);
        {
            const std::lock_guard alone(guard);
            threads.insert(std::this_thread::get_id());
        }
        sleep_uncaught(15ms); // so its loop is busy at the next beat, if that is not the timer's own
    };
    testing::internal::CaptureStderr(); // the watchdog may name it
    {
        running_sources running(hourly_and_often, strategy_kind::event, 10, 2);
        await([&] {
            const std::lock_guard alone(guard);
            return threads.size() == 2;
        });
    }
    testing::internal::GetCapturedStderr();
    EXPECT_EQ(threads.size(), 2u);
}

TEST(Sources, ATimerGoesByTheClockOfItsLoop)
{
    std::vector<flux::moment> beats; // on the one loop
    sample::work = [&](const sample::Listen_out &) { beats.push_back(flux::running_io().now()); };
    flux::runners all(hourly);
    auto made = std::make_unique<flux::simulation>(1);
    flux::simulation &world = *made;
    const flux::moment begin = world.now();
    const auto strategy = flux::make_event_strategy(
        all, hourly, 1, [&] { return std::unique_ptr<flux::loop_io>(std::move(made)); });
    flux::sources sources(hourly, {.most = 10}, *strategy, all);
    sources.start();
    world.begin(24h + 30min); // which takes no time
    world.await_idle();
    ASSERT_EQ(beats.size(), 24u);
    for (std::size_t beat = 0; beat < beats.size(); ++beat) {
        const auto due = begin + (beat + 1) * 1h;
        EXPECT_GE(beats[beat], due);
        EXPECT_LT(beats[beat], due + 10ms);
    }
    sources.stop();
    world.go_on();
    EXPECT_TRUE(sources.ended());
    sources.join();
    strategy->finish();
    sample::work = nullptr;
}

} // namespace
