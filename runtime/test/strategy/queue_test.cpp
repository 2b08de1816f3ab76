#include "flux/strategy/queue.hpp"

#include "flux/flow/branch.hpp"
#include "../support/running_source.hpp"
#include "../support/known_thread.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <list>
#include <thread>

namespace {

using namespace std::chrono_literals;

TEST(Queue, IsFirstInFirstOut)
{
    std::array<flux::flow, 5> flows;
    flux::queue queue(flows.size());
    for (flux::flow &flow : flows) {
        queue.push(flow);
    }
    EXPECT_EQ(queue.size(), flows.size());
    for (flux::flow &flow : flows) {
        EXPECT_EQ(queue.pop().started, &flow);
    }
    EXPECT_EQ(queue.size(), 0u);
}

TEST(Queue, HoldsThePusherBackWhileItIsFull)
{
    std::array<flux::flow, 3> flows;
    flux::queue queue(2);
    queue.push(flows[0]);
    queue.push(flows[1]);
    std::atomic<bool> pushed{false};
    known_thread pusher([&] {
        queue.push(flows[2]);
        pushed = true;
    });
    pusher.await_asleep();
    EXPECT_FALSE(pushed);
    EXPECT_EQ(queue.pop().started, &flows[0]);
    pusher.join();
    EXPECT_EQ(queue.pop().started, &flows[1]);
    EXPECT_EQ(queue.pop().started, &flows[2]);
}

/// A branch that nobody runs.
struct idle_branch final : flux::branch_base {
    explicit idle_branch(flux::flow &parent) : branch_base(parent, 0) {}
    flux::outcome call(flux::flow &own) noexcept override { return own.done(); }
};

TEST(Queue, BranchesGoFirstUnlessTheyAreTakenBack)
{
    sample::running_source running(sample::program, sample::source_Beat, flux::strategy_kind::thread, 1);
    flux::flow flow;
    flow.begin(running.source, 1);
    std::array<idle_branch, 3> branches{idle_branch(flow), idle_branch(flow), idle_branch(flow)};
    flux::queue queue(1);
    queue.push(flow);
    for (idle_branch &branch : branches) {
        queue.offer(branch);
    }
    EXPECT_TRUE(queue.take_back(branches[1]));
    EXPECT_EQ(queue.pop().offered, &branches[0]);
    EXPECT_FALSE(queue.take_back(branches[0]));
    EXPECT_EQ(queue.pop().offered, &branches[2]);
    EXPECT_EQ(queue.pop().started, &flow);
}

TEST(Queue, GivesWhatItHasAndThenNothingWhenItIsClosed)
{
    flux::flow flow;
    flux::queue queue(2);
    queue.push(flow);
    queue.close();
    EXPECT_EQ(queue.pop().started, &flow);
    EXPECT_EQ(queue.pop().started, nullptr);
}

TEST(Queue, ClosingLetsThoseGoWhoWait)
{
    flux::queue queue(1);
    std::list<known_thread> poppers;
    for (int i = 0; i < 3; ++i) {
        poppers.emplace_back([&] { EXPECT_EQ(queue.pop().started, nullptr); });
        poppers.back().await_asleep();
    }
    queue.close();
    for (known_thread &popper : poppers) {
        popper.join();
    }
}

TEST(Queue, ClosingLetsTheOneGoWhoWatches)
{
    flux::queue queue(1);
    known_thread watcher([&] { EXPECT_FALSE(queue.await_backlog()); });
    watcher.await_asleep();
    queue.close();
    watcher.join(); // hangs where nobody wakes it
}

TEST(Queue, ABranchThatIsTakenBackIsNoBacklog)
{
    sample::running_source running(sample::program, sample::source_Beat, flux::strategy_kind::thread, 1);
    flux::flow flow;
    flow.begin(running.source, 1);
    idle_branch first(flow);
    idle_branch second(flow);
    flux::queue queue(1);
    queue.offer(first);
    queue.offer(second);
    EXPECT_EQ(queue.stands_still_for(1ms), 2u);
    EXPECT_TRUE(queue.take_back(first));
    EXPECT_EQ(queue.stands_still_for(1ms), 1u);
    EXPECT_TRUE(queue.take_back(second));
    EXPECT_EQ(queue.stands_still_for(1ms), 0u);
}

TEST(Queue, WhoIsCalledForABranchThatIsTakenBackTakesWhatComesNext)
{
    sample::running_source running(sample::program, sample::source_Beat, flux::strategy_kind::thread, 1);
    flux::flow parent;
    parent.begin(running.source, 1);
    idle_branch branch(parent);
    flux::flow flow;
    flux::queue queue(1);
    std::atomic<int> taken{0};
    std::thread popper([&] {
        for (flux::queued next = queue.pop(); next.started != nullptr || next.offered != nullptr; next = queue.pop()) {
            taken += next.started != nullptr ? 1 : 0;
        }
    });
    for (int turn = 1; turn <= 5'000; ++turn) {
        queue.offer(branch);
        queue.take_back(branch);
        queue.push(flow);
        while (taken != turn) { // hangs where nobody comes for the flow
            std::this_thread::yield();
        }
    }
    queue.close();
    popper.join();
}

TEST(Queue, GivesEachFlowToOne)
{
    constexpr std::size_t pushers = 3;
    constexpr std::size_t each = 4'000;
    std::vector<flux::flow> flows(pushers * each);
    std::vector<int> taken(flows.size());
    flux::queue queue(7);
    std::vector<std::thread> poppers;
    for (int i = 0; i < 3; ++i) {
        poppers.emplace_back([&] {
            while (flux::flow *flow = queue.pop().started) {
                ++taken[static_cast<std::size_t>(flow - flows.data())];
            }
        });
    }
    std::vector<std::thread> threads;
    for (std::size_t pusher = 0; pusher < pushers; ++pusher) {
        threads.emplace_back([&, pusher] {
            for (std::size_t i = 0; i < each; ++i) {
                queue.push(flows[pusher * each + i]);
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    queue.close();
    for (std::thread &popper : poppers) {
        popper.join();
    }
    EXPECT_EQ(taken, std::vector<int>(flows.size(), 1));
}

} // namespace
