#include "flux/event/blocking_pool.hpp"

#include "../support/sample_program.hpp"
#include "../support/patience.hpp"

#include <flux/strategy/runner.hpp>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

class BlockingPool : public testing::Test
{
  protected:
    /// Has a flow of its own call this through the pool, on this thread.
    void run(flux::blocking_pool &pool, std::function<void(flux::flow &)> call)
    {
        flux::runner own(sample::program);
        flux::flow by;
        by.run_on(own);
        by.move_to(sample::node_Begin);
        auto called = [&] { call(by); };
        using type = decltype(called);
        pool.run(by, {[](void *the) { (*static_cast<type *>(the))(); }, &called});
        EXPECT_EQ(&by.on(), &own);
        EXPECT_EQ(&by.place(), &own.place());
        EXPECT_EQ(by.position(), static_cast<flux::node_number>(sample::node_Begin));
    }

    flux::runners all{sample::program};
};

TEST_F(BlockingPool, RunsACallOnAThreadOfItsOwnAsTheFlow)
{
    flux::blocking_pool pool(all, 2);
    std::thread::id there;
    run(pool, [&](flux::flow &by) {
        there = std::this_thread::get_id();
        EXPECT_EQ(flux::running_flow, &by);
        EXPECT_EQ(by.position(), static_cast<flux::node_number>(sample::node_Begin));
        // What waits for the flow there finds it there.
        std::thread waking([&by] { by.place().wake(); });
        by.place().wait();
        waking.join();
    });
    EXPECT_NE(there, std::thread::id());
    EXPECT_NE(there, std::this_thread::get_id());
    EXPECT_EQ(pool.most_threads(), 1u);
    pool.finish();
    EXPECT_EQ(pool.threads(), 0u);
}

TEST_F(BlockingPool, ThrowsWhatTheCallThrows)
{
    flux::blocking_pool pool(all, 1);
    EXPECT_THROW(run(pool, [](flux::flow &) { throw std::out_of_range("there"); }), std::out_of_range);
    bool ran = false;
    run(pool, [&](flux::flow &) { ran = true; });
    EXPECT_TRUE(ran);
    pool.finish();
}

TEST_F(BlockingPool, HasAsManyThreadsAsItNeedsAndMayHave)
{
    constexpr int most = 3;
    flux::blocking_pool pool(all, most);
    std::barrier together(most);
    std::atomic<int> inside{0};
    std::atomic<bool> too_many{false};
    std::vector<std::thread> callers;
    for (int number = 0; number < 4 * most; ++number) {
        callers.emplace_back([&] {
            run(pool, [&](flux::flow &) {
                too_many = too_many || ++inside > most;
                together.arrive_and_wait(); // hangs unless as many as may be run at once
                --inside;
            });
        });
    }
    for (std::thread &each : callers) {
        each.join();
    }
    EXPECT_FALSE(too_many);
    EXPECT_EQ(pool.most_threads(), static_cast<std::size_t>(most));
    pool.finish();
}

TEST_F(BlockingPool, ThreadsThatAreIdleEndAndOthersCome)
{
    flux::blocking_pool pool(all, 4, 1ms);
    for (int round = 0; round < 3; ++round) {
        int ran = 0;
        run(pool, [&](flux::flow &) { ++ran; });
        EXPECT_EQ(ran, 1);
        await([&] { return pool.threads() == 0; });
    }
    EXPECT_EQ(pool.most_threads(), 1u);
    pool.finish();
}

TEST_F(BlockingPool, CallsThatComeAsThreadsEndAreRun)
{
    flux::blocking_pool pool(all, 2, 0ms);
    constexpr int each = 2000;
    std::atomic<int> ran{0};
    std::vector<std::thread> callers;
    for (int number = 0; number < 3; ++number) {
        callers.emplace_back([&] {
            for (int round = 0; round < each; ++round) {
                run(pool, [&](flux::flow &) { ++ran; });
            }
        });
    }
    for (std::thread &caller : callers) {
        caller.join();
    }
    EXPECT_EQ(ran, 3 * each);
    pool.finish();
    EXPECT_EQ(pool.threads(), 0u);
}

TEST_F(BlockingPool, ThatMayHaveNoThreadsRunsTheCallWhereItIs)
{
    flux::blocking_pool pool(all, 0);
    std::thread::id there;
    run(pool, [&](flux::flow &) { there = std::this_thread::get_id(); });
    EXPECT_EQ(there, std::this_thread::get_id());
    EXPECT_THROW(run(pool, [](flux::flow &) { throw std::out_of_range("here"); }), std::out_of_range);
    EXPECT_EQ(pool.most_threads(), 0u);
    pool.finish();
}

} // namespace
