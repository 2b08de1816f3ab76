#include "flux/strategy/source.hpp"

#include "flux/simulation/simulation.hpp"
#include "flux/io/park.hpp"
#include "flux/sleep.hpp"
#include "flux/strategy/sources.hpp"
#include "../support/running_source.hpp"
#include "../support/patience.hpp"
#include "../support/standard_error.hpp"

#include <algorithm>
#include <cerrno>
#include <gtest/gtest.h>
#include <vector>

namespace {

using namespace std::chrono_literals;
using flux::strategy_kind;
using sample::running_source;

TEST(Source, StartsAFlowEachTimeItSucceeds)
{
    std::atomic<int> begun{0};
    sample::work = [&](const sample::Listen_out &values) { begun += values.first == 2; };
    sample::listen = sample::flows(10, [](int) { return sample::Listen_out{2, 2, sample::node_Begin}; });
    running_source running(sample::program, sample::source_Listen, strategy_kind::pool, 100);
    running.await_finished(10);
    EXPECT_EQ(begun, 10);
    EXPECT_EQ(running.counts().started, 10u);
    EXPECT_EQ(running.counts().finished[flux::index_of(flux::outcome::failed)], 10u);
}

TEST(Source, AnErrorMeansNothingThisTime)
{
    int calls = 0;
    sample::listen = [&](sample::Listen_out &values) {
        values = {2, 2, -1};
        ++calls;
        return calls > 8 ? sample::nothing_comes() : calls % 2 == 0;
    };
    running_source running(sample::program, sample::source_Listen, strategy_kind::pool, 100);
    running.await_finished(4);
    EXPECT_EQ(running.counts().started, 4u);
    EXPECT_EQ(running.counts().nothing, 4u);
    EXPECT_EQ(running.counts().counted.failures, 4u);
}

TEST(Source, ThatItIsInterruptedAtTheEndIsNoFailure)
{
    sample::listen = sample::flows(1, [](int) { return sample::Listen_out{2, 2, -1}; });
    flux::source_counts counts;
    {
        running_source running(sample::program, sample::source_Listen, strategy_kind::pool, 100);
        running.await_finished(1);
        running.await_stopped();
        counts = running.counts();
    }
    EXPECT_EQ(counts.nothing, 0u);
}

TEST(Source, IsNamedWhenItHasFailedWithoutWaitingForLong)
{
    sample::listen = [&](sample::Listen_out &) { return false; };
    const captured_standard_error standard_error;
    {
        running_source running(sample::program, sample::source_Listen, strategy_kind::pool, 100);
        await([&] { return standard_error.said().ends_with('\n'); });
    }
    const std::string said = standard_error.said();
    EXPECT_EQ(said, "flux: source Listen (sample.flux:8) fails again and again without waiting for anything, with "
                    "error 24 (Too many open files): it is tried every 100 ms, or when one of its flows ends\n");
}

/// A source that sets a deadline for its flow, which waits for as long as it may.
namespace hasty {

std::atomic<bool> made;
std::atomic<flux::park_end> ended;

flux::outcome produce(flux::flow &flow)
{
    if (made.exchange(true)) {
        flux::park never(flow, flux::park_reason::flow);
        flow.failed_in(flux::no_node, flux::error_of(never.wait()));
        return flow.failed();
    }
    flow.set_deadline(flux::running_io().now() + 20ms);
    return flow.done();
}

flux::outcome run(flux::flow &flow)
{
    flux::park never(flow, flux::park_reason::flow);
    ended = never.wait();
    return flow.done();
}

constexpr flux::source_info sources[] = {flux::make_replicable_source<produce, run>(
    {"Hasty", "a.flux", 1}, sample::function_Listen_produce, sample::function_Beat_run)};

} // namespace hasty

TEST(Source, MaySetADeadlineForItsFlows)
{
    flux::program in = sample::program;
    in.sources = hasty::sources;
    for (const strategy_kind kind : {strategy_kind::thread, strategy_kind::pool, strategy_kind::event}) {
        for (const auto of_all : {0ms, std::chrono::milliseconds(1h)}) {
            hasty::made = false;
            hasty::ended = flux::park_end::completed;
            running_source running(in, 0, kind, 10, 2, 4, 0, of_all);
            running.await_finished(1, 0);
            EXPECT_EQ(hasty::ended.load(), flux::park_end::timed_out);
        }
    }
}

/// A source that polls in simulated time: there is something for it only when its flow has ended.
namespace polling {

std::chrono::milliseconds flow_takes;
int flows_left;
bool flow_in_progress;
flux::moment ended_at;
std::vector<std::chrono::nanoseconds> found_after;
std::vector<std::chrono::nanoseconds> tried_in_vain_after;

flux::outcome produce(flux::flow &flow)
{
    if (flow_in_progress || flows_left == 0) {
        tried_in_vain_after.push_back(flux::running_io().now() - ended_at);
        flow.failed_in(flux::no_node, EAGAIN);
        return flow.failed();
    }
    --flows_left;
    flow_in_progress = true;
    found_after.push_back(flux::running_io().now() - ended_at);
    return flow.done();
}

flux::outcome run(flux::flow &flow)
{
    flux::sleep_for(flow_takes);
    flow_in_progress = false;
    ended_at = flux::running_io().now();
    return flow.done();
}

/// So many flows that take so long, one after another; then nothing for a while.
void simulate(int flows, std::chrono::milliseconds each)
{
    flow_takes = each;
    flows_left = flows;
    flow_in_progress = false;
    found_after.clear();
    tried_in_vain_after.clear();
    flux::source_info sources[] = {flux::make_replicable_source<produce, run>(
        {"Poll", "a.flux", 1}, sample::function_Listen_produce, sample::function_Beat_run)};
    flux::program in = sample::program;
    in.sources = sources;
    flux::runners all(in);
    auto made = std::make_unique<flux::simulation>(1, flux::simulated_faults());
    flux::simulation &world = *made;
    const auto strategy = flux::make_event_strategy(
        all, in, 1, [&made] { return std::unique_ptr<flux::loop_io>(std::move(made)); });
    flux::sources running(in, {.most = 10}, *strategy, all);
    running.start();
    world.begin(200s);
    world.await_idle();
    running.stop();
    world.go_on();
    EXPECT_TRUE(running.ended());
    running.join();
    strategy->finish();
}

} // namespace polling

TEST(Source, ThatPausesGoesOnWhenAFlowEnds)
{
    testing::internal::CaptureStderr();
    polling::simulate(20, 5000ms);
    testing::internal::GetCapturedStderr();
    ASSERT_EQ(polling::found_after.size(), 20u);
    polling::found_after.erase(polling::found_after.begin());
    EXPECT_LE(std::ranges::max(polling::found_after), flux::backoff::shortest_pause);
}

TEST(Source, ThatPollsIsTriedRarelyWhereNothingHappens)
{
    testing::internal::CaptureStderr();
    polling::simulate(1, 1ms);
    testing::internal::GetCapturedStderr();
    const auto in_first = [](std::chrono::nanoseconds time) {
        return std::ranges::count_if(polling::tried_in_vain_after, [&](auto after) { return after < time; });
    };
    // Of pauses that are a sixteenth of the time so far there are 11 in each doubling.
    EXPECT_LE(in_first(1600ms), 16 + 11 * 12);
    EXPECT_GE(in_first(11600ms) - in_first(1600ms), 90);
    EXPECT_LE(in_first(11600ms) - in_first(1600ms), 100);
}

TEST(Source, ThatWaitsAndFailsIsNotSlowedDown)
{
    std::atomic<int> calls{0};
    sample::listen = [&](sample::Listen_out &) {
        dawdle(2ms);
        ++calls;
        return false;
    };
    testing::internal::CaptureStderr();
    {
        running_source running(sample::program, sample::source_Listen, strategy_kind::pool, 100);
        await([&] { return calls >= 40; });
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Source, RestsWhileItsBoundOfFlowsIsReached)
{
    std::atomic<int> in_progress{0};
    std::atomic<int> most{0};
    sample::work = [&](const sample::Listen_out &) {
        const int now = ++in_progress;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
        }
        await([&] { return most == 3; });
        --in_progress;
    };
    sample::listen = sample::flows(60, [](int) { return sample::Listen_out{2, 2, sample::node_Begin}; });
    {
        running_source running(sample::program, sample::source_Listen, strategy_kind::thread, 3);
        running.await_finished(60);
    }
    EXPECT_EQ(most, 3);
}

TEST(Source, GivesFlowsNumbersFromOne)
{
    std::mutex guard;
    std::map<std::uint64_t, int> ids;
    sample::work = [&](const sample::Listen_out &) {
        const std::lock_guard alone(guard);
        ++ids[flux::running_flow->id()];
    };
    sample::listen = sample::flows(3, [](int) { return sample::Listen_out{2, 2, sample::node_Begin}; });
    {
        running_source running(sample::program, sample::source_Listen, strategy_kind::thread, 3);
        running.await_finished(3);
    }
    // Each value also passes the source itself, before it has a flow of its own.
    EXPECT_EQ(ids, (std::map<std::uint64_t, int>{{1, 1}, {2, 1}, {3, 1}}));
}

TEST(Source, ATimerBeats)
{
    const stopwatch begun;
    std::uint64_t beats = 0;
    {
        running_source running(sample::program, sample::source_Beat, strategy_kind::pool, 10);
        running.await_finished(5, sample::source_Beat);
        EXPECT_TRUE(begun.has_passed(50ms));
        beats = running.counts(sample::source_Beat).started;
    }
    EXPECT_TRUE(begun.has_passed(beats * 10ms));
}

TEST(Source, BeatsThatAreMissedCoalesce)
{
    std::atomic<bool> is_first{true};
    sample::work = [&](const sample::Listen_out &) {
        if (is_first.exchange(false)) {
            dawdle(200ms);
        }
    };
    const stopwatch begun;
    {
        // One flow at a time: the first misses twenty beats, which are given as one.
        running_source running(sample::program, sample::source_Beat, strategy_kind::thread, 1);
        running.await_finished(5, sample::source_Beat);
        const std::uint64_t started = running.counts(sample::source_Beat).started;
        EXPECT_TRUE(begun.has_passed(200ms + (started - 2) * 10ms));
    }
}

TEST(Source, WakesFromALongWaitForABeat)
{
    flux::source_info slow[] = {
        flux::make_timer<sample::Beat_run>({"every 1h", "a.flux", 1}, 3'600'000, sample::function_Beat_run)};
    flux::program in = sample::program;
    in.sources = slow;
    running_source running(in, 0, strategy_kind::pool, 10);
    dawdle(20ms);
    running.await_stopped(); // hangs for an hour if nothing wakes it
    EXPECT_EQ(running.counts(0).started, 0u);
}

/// Values whose making fails now and then, and which know how many of them there are.
struct counted_values {
    counted_values()
    {
        if (++made % 3 == 0) {
            throw std::bad_alloc();
        }
        ++alive;
    }
    ~counted_values() { --alive; }
    counted_values(const counted_values &) = delete;

    static inline std::atomic<int> made{0};
    static inline std::atomic<int> alive{0};
};

flux::outcome make_counted(flux::flow &flow, counted_values &)
{
    if (counted_values::made >= 12) {
        sample::nothing_comes();
        return flow.failed();
    }
    return counted_values::made % 3 == 1 ? flow.done() : flow.failed();
}

flux::outcome run_counted(flux::flow &flow, counted_values &)
{
    EXPECT_GT(counted_values::alive, 0);
    return flow.done();
}

TEST(Source, ValuesLiveFromTheirMakingToTheEndOfTheFlow)
{
    flux::source_info counted[] = {flux::make_source<make_counted, run_counted>(
        {"Counted", "a.flux", 1}, sample::function_Listen_produce, sample::function_Beat_run)};
    flux::program in = sample::program;
    in.sources = counted;
    testing::internal::CaptureStderr();
    {
        running_source running(in, 0, strategy_kind::pool, 10);
        running.await_finished(4, 0);
        await([] { return counted_values::made >= 13; });
        const flux::source_counts counts = running.counts(0);
        EXPECT_EQ(counts.started, 4u);
        EXPECT_EQ(counts.nothing, 4u + 4u) << "four failed, for four there was no memory";
    }
    testing::internal::GetCapturedStderr(); // it may say what was thrown
    EXPECT_EQ(counted_values::alive, 0);
}

/// Says when the flow is over that it belonged to.
class kept final : public flux::belonging
{
  public:
    std::atomic<int> ends{0};

  private:
    bool flow_has_ended() noexcept override
    {
        ++ends;
        return true;
    }
};

TEST(Source, WhatItHasWhenItFailsIsEndedBeforeItTriesAgain)
{
    kept own;
    std::atomic<int> calls{0};
    int ended_before = 0;
    sample::listen = [&](sample::Listen_out &) {
        if (calls == 1) {
            ended_before = own.ends;
        }
        if (calls++ != 0) {
            return sample::nothing_comes();
        }
        flux::running_flow->own(own);
        return false;
    };
    {
        running_source running(sample::program, sample::source_Listen, strategy_kind::pool, 100);
        await([&] { return calls >= 2; });
    }
    EXPECT_EQ(ended_before, 1);
}

TEST(Source, WhatItLetsGoItsLastFlowHasIsEndedToo)
{
    kept own;
    std::atomic<bool> begun{false};
    sample::listen = [&](sample::Listen_out &) {
        flux::running_flow->from().when_stopped([&] {
            flux::running_flow->own(own);
        });
        begun = true;
        return sample::nothing_comes();
    };
    {
        running_source running(sample::program, sample::source_Listen, strategy_kind::pool, 100);
        await([&] { return begun.load(); });
    }
    EXPECT_EQ(own.ends, 1);
}

/// What a node of a source keeps.
struct calls_so_far {
    calls_so_far() { ++alive; }
    ~calls_so_far() { --alive; }

    int calls = 0;
    static inline std::atomic<int> alive{0};
};

TEST(Source, KeepsOneStateOfATypeFromCallToCall)
{
    sample::listen = [&](sample::Listen_out &out) {
        out = {2, 2, -1};
        const int calls = ++flux::running_flow->from().state<calls_so_far>().calls;
        EXPECT_EQ(calls_so_far::alive, 1);
        return calls <= 3 || sample::nothing_comes();
    };
    {
        running_source running(sample::program, sample::source_Listen, strategy_kind::pool, 100);
        running.await_finished(3);
        EXPECT_EQ(running.counts().started, 3U);
    }
    EXPECT_EQ(calls_so_far::alive, 0);
}

} // namespace
