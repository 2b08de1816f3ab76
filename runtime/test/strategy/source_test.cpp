#include "flux/strategy/source.hpp"

#include "../support/running_source.hpp"

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;
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
        while (!running.source.ended()) {
            running.source.stop();
            std::this_thread::sleep_for(1ms);
        }
        counts = running.counts();
    }
    EXPECT_EQ(counts.nothing, 0u);
}

TEST(Source, IsSlowedDownWhenItFailsWithoutWaiting)
{
    std::atomic<int> calls{0};
    sample::listen = [&](sample::Listen_out &) {
        ++calls;
        return false;
    };
    testing::internal::CaptureStderr();
    {
        running_source running(sample::program, sample::source_Listen, strategy_kind::pool, 100);
        std::this_thread::sleep_for(300ms);
    }
    const std::string said = testing::internal::GetCapturedStderr();
    // 16 free ones, then pauses of 1, 2, 4, ... 100 ms: 9 of them or so in 300 ms.
    EXPECT_GE(calls, 17);
    EXPECT_LE(calls, 40);
    EXPECT_EQ(said, "flux: source Listen (sample.flux:8) fails again and again without waiting for anything, with "
                    "error 24 (Too many open files): it is slowed down\n");
}

TEST(Source, ThatWaitsAndFailsIsNotSlowedDown)
{
    std::atomic<int> calls{0};
    sample::listen = [&](sample::Listen_out &) {
        std::this_thread::sleep_for(2ms);
        ++calls;
        return false;
    };
    testing::internal::CaptureStderr();
    {
        running_source running(sample::program, sample::source_Listen, strategy_kind::pool, 100);
        while (calls < 40) { // hangs for a long time if there are pauses of 100 ms
            std::this_thread::sleep_for(1ms);
        }
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
        std::this_thread::sleep_for(2ms);
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
    const clock::time_point begin = clock::now();
    std::uint64_t beats = 0;
    {
        running_source running(sample::program, sample::source_Beat, strategy_kind::pool, 10);
        running.await_finished(5, sample::source_Beat);
        EXPECT_GE(clock::now() - begin, 50ms);
        beats = running.counts(sample::source_Beat).started;
    }
    EXPECT_LE(beats, static_cast<std::uint64_t>((clock::now() - begin) / 10ms));
}

TEST(Source, BeatsThatAreMissedCoalesce)
{
    sample::work = [](const sample::Listen_out &) { std::this_thread::sleep_for(45ms); };
    const clock::time_point begin = clock::now();
    {
        running_source running(sample::program, sample::source_Beat, strategy_kind::thread, 1);
        running.await_finished(3, sample::source_Beat);
        // One flow at a time, each of which misses four beats: the next comes with the beat after it.
        EXPECT_GE(clock::now() - begin, 3 * 45ms);
        EXPECT_LE(running.counts(sample::source_Beat).started, 4u);
    }
}

TEST(Source, WakesFromALongWaitForABeat)
{
    flux::source_info slow[] = {
        flux::make_timer<sample::Beat_run>({"every 1h", "a.flux", 1}, 3'600'000, sample::function_Beat_run)};
    flux::program in = sample::program;
    in.sources = slow;
    const clock::time_point begin = clock::now();
    {
        running_source running(in, 0, strategy_kind::pool, 10);
        std::this_thread::sleep_for(20ms);
    }
    EXPECT_LT(clock::now() - begin, 2s);
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
        while (counted_values::made < 13) {
            std::this_thread::sleep_for(1ms);
        }
        const flux::source_counts counts = running.counts(0);
        EXPECT_EQ(counts.started, 4u);
        EXPECT_EQ(counts.nothing, 4u + 4u) << "four failed, for four there was no memory";
    }
    testing::internal::GetCapturedStderr(); // it may say what was thrown
    EXPECT_EQ(counted_values::alive, 0);
}

} // namespace
