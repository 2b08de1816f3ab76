#include "flux/event/event.hpp"
#include "flux/waiting/spin_lock.hpp"

#include "../support/running_source.hpp"
#include "../support/counted_waiter.hpp"
#include "../support/patience.hpp"

#include <flux/process/crash.hpp>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using flux::strategy_kind;
using sample::running_source;

bool is_at(flux::node_number node)
{
    return flux::running_flow->position() == node;
}

/// A place where flows park until the test lets them go on.
class barrier
{
  public:
    void wait()
    {
        flux::waiter &place = flux::running_flow->place();
        {
            const std::lock_guard alone(lock_);
            places_.push_back(&place);
        }
        place.wait();
    }

    std::size_t waiting()
    {
        const std::lock_guard alone(lock_);
        return places_.size();
    }

    void wake_all()
    {
        const std::lock_guard alone(lock_);
        for (flux::waiter *const each : places_) {
            each->wake();
        }
        places_.clear();
    }

  private:
    std::mutex lock_;
    std::vector<flux::waiter *> places_;
};

/// Values of a flow that passes Begin, no line but the empty one, and End.
sample::Listen_out plain()
{
    return {2, 2, -1};
}

TEST(Event, FlowsThatWaitLeaveTheLoopToOthers)
{
    barrier gate;
    sample::work = [&](const sample::Listen_out &) {
        if (is_at(sample::node_Begin) && flux::running_flow->id() <= 100) {
            gate.wait();
        }
    };
    sample::listen = sample::flows(200, [](int) { return plain(); });
    {
        running_source running(sample::program, sample::source_Listen, strategy_kind::event, 200, 1);
        running.await_finished(100);
        EXPECT_EQ(gate.waiting(), 100u);
        gate.wake_all();
        running.await_finished(200);
        EXPECT_EQ(running.counts().finished[flux::index_of(flux::outcome::done)], 200u);
        EXPECT_GE(running.facts().stack_bytes, 4096u);
    }
}

TEST(Event, AFlowThatHasBegunStaysOnItsLoop)
{
    barrier gate;
    flux::spin_lock guard; // its loop would go on with others while a flow waits for a lock of the C++ library
    std::map<std::uint64_t, std::set<std::thread::id>> threads;
    std::set<std::thread::id> loops;
    std::atomic<int> held{0};
    sample::work = [&](const sample::Listen_out &) {
        bool is_first_here = false;
        {
            const std::lock_guard alone(guard);
            threads[flux::running_flow->id()].insert(std::this_thread::get_id());
            is_first_here = loops.insert(std::this_thread::get_id()).second;
        }
        if (is_first_here) {
            // Each loop is held until all three are, by whichever comes first there: one that has begun may give way.
            ++held;
            await([&] { return held == 3; });
        }
        if (is_at(sample::node_Begin)) {
            gate.wait();
        }
    };
    sample::listen = sample::flows(60, [](int) { return plain(); });
    {
        running_source running(sample::program, sample::source_Listen, strategy_kind::event, 60, 3);
        await([&] { return gate.waiting() == 60; });
        gate.wake_all();
        running.await_finished(60);
    }
    std::set<std::thread::id> all;
    for (const auto &[id, own] : threads) {
        EXPECT_EQ(own.size(), 1u) << id;
        all.insert(own.begin(), own.end());
    }
    EXPECT_EQ(all, loops);
}

TEST(Event, ALoopWithoutWorkTakesWhatHasNotBegun)
{
    std::atomic<bool> first_holds{false};
    std::atomic<bool> all_made{false};
    std::atomic<int> others{0};
    sample::work = [&](const sample::Listen_out &) {
        const std::uint64_t flow = flux::running_flow->id();
        if (is_at(sample::node_Begin) && flow == 1) {
            first_holds = true;
            await([&] { return others == 50; }); // holds its loop, with what waits there
        } else if (is_at(sample::node_Begin) && flow == 2) {
            await([&] { return all_made.load(); }); // and so does this: the others are handed out in turns
        } else if (is_at(sample::node_End) && flow != 1) {
            ++others;
        }
    };
    const auto produce = sample::flows(51, [](int) { return plain(); });
    sample::listen = [&, made = 0](sample::Listen_out &into) mutable {
        if (made == 1) {
            // None of the others has begun on its loop, which it would have to end on.
            await([&] { return first_holds.load(); });
        }
        all_made = made == 51;
        made += made < 51 ? 1 : 0;
        return produce(into);
    };
    running_source running(sample::program, sample::source_Listen, strategy_kind::event, 100, 2);
    running.await_finished(51);
    EXPECT_EQ(others, 50);
}

/// How many flows have begun on each of two loops.
struct begun_on {
    std::uint64_t fewer;
    std::uint64_t more;
};

begun_on begun(running_source &running)
{
    const std::vector<std::uint64_t> flows = running.facts().flows;
    const auto [fewest, most] = std::minmax_element(flows.begin(), flows.end());
    return {*fewest, *most};
}

TEST(Event, FlowsThatWaitForTheWorldDoNotComeTogetherOnOneLoop)
{
    barrier gate;
    sample::work = [&](const sample::Listen_out &) {
        if (is_at(sample::node_Begin)) {
            gate.wait();
        }
    };
    const auto produce = sample::flows(100, [](int) { return plain(); });
    sample::listen = [&, made = 0U](sample::Listen_out &into) mutable {
        if (made == 100) {
            return produce(into);
        }
        await([&] { return gate.waiting() == made; }); // both loops have nothing to do, or soon will
        ++made;
        return produce(into);
    };
    running_source running(sample::program, sample::source_Listen, strategy_kind::event, 100, 2);
    await([&] { return gate.waiting() == 100; });
    EXPECT_GE(begun(running).fewer, 25u);
    gate.wake_all();
    running.await_finished(100);
}

TEST(Event, FlowsThatWaitForAConstraintAreLeftToBothLoops)
{
    flux::lock contended;
    std::atomic<bool> is_held{false};
    std::atomic<bool> is_to_go_on{false};
    sample::work = [&](const sample::Listen_out &) {
        if (!is_at(sample::node_Begin)) {
            return;
        }
        contended.acquire(flux::mode::write, flux::running_flow->place());
        if (flux::running_flow->id() == 1) {
            is_held = true;
            await([&] { return is_to_go_on.load(); }); // with its loop; the other has nothing to do
        }
        contended.release(flux::mode::write);
    };
    const auto produce = sample::flows(101, [](int) { return plain(); });
    std::atomic<int> made{0};
    sample::listen = [&](sample::Listen_out &into) {
        if (made == 1) {
            await([&] { return is_held.load(); });
        }
        made += made < 101 ? 1 : 0;
        return produce(into);
    };
    running_source running(sample::program, sample::source_Listen, strategy_kind::event, 200, 2);
    await([&] { return made == 101; });
    await([&] { return begun(running).more >= 45; });
    sleep_uncaught(20ms); // in which a loop without work would take all that wait at the other
    EXPECT_EQ(begun(running).fewer, 1u);
    EXPECT_LE(begun(running).more, 55u);
    is_to_go_on = true;
    running.await_finished(101);
}

TEST(Event, ConstraintsAreTakenFirstComeFirstServedByFibersAndThreads)
{
    flux::lock contended;
    flux::thread_waiter own;
    contended.acquire(flux::mode::write, own);
    std::atomic<int> waiting{0};
    std::vector<std::string> order; // under the lock
    sample::work = [&](const sample::Listen_out &) {
        if (is_at(sample::node_Begin)) {
            const std::string name = std::to_string(flux::running_flow->id());
            counted_waiter place(flux::running_flow->place(), waiting);
            contended.acquire(flux::mode::write, place);
            order.push_back(name);
            contended.release(flux::mode::write);
        }
    };
    std::atomic<int> to_start{0};
    sample::listen = [&](sample::Listen_out &values) {
        if (to_start == 0) {
            dawdle(500us);
            return false;
        }
        --to_start;
        values = plain();
        return true;
    };
    {
        running_source running(sample::program, sample::source_Listen, strategy_kind::event, 100, 2);
        std::vector<std::thread> threads;
        for (int round = 0; round < 3; ++round) {
            to_start = 1;
            await([&] { return waiting == 2 * round + 1; });
            threads.emplace_back([&] {
                flux::thread_waiter own_place;
                counted_waiter place(own_place, waiting);
                contended.acquire(flux::mode::write, place);
                order.emplace_back("thread");
                contended.release(flux::mode::write);
            });
            await([&] { return waiting == 2 * round + 2; });
        }
        contended.release(flux::mode::write);
        running.await_finished(3);
        for (std::thread &each : threads) {
            each.join();
        }
    }
    EXPECT_EQ(order, (std::vector<std::string>{"1", "thread", "2", "thread", "3", "thread"}));
}

/// Makes flows as `sample::flows` does, the first and then the others when that one has begun; knows when all wait.
class followers
{
  public:
    template <class Values>
    void make(int flows, Values values)
    {
        auto produce = sample::flows(flows, values);
        sample::listen = [this, flows, produce](sample::Listen_out &into) {
            if (made_ == 1) {
                await([this] { return begun_.load(); });
            }
            // Who comes back has handed over what it made before.
            all_wait_ = made_ == flows;
            made_ += made_ < flows;
            return produce(into);
        };
    }

    /// Called by the first flow: returns when all others wait, and its slice is over.
    void hold_loop()
    {
        begun_ = true;
        await([this] { return all_wait_.load(); });
        spin(1ms);
    }

  private:
    int made_ = 0; // by the source
    std::atomic<bool> begun_{false};
    std::atomic<bool> all_wait_{false};
};

TEST(Event, AHeavyFlowGivesWayBetweenTwoNodes)
{
    // The first ten leave fibers whose stacks have been used. On new ones a light flow would be heavy itself under a
    // sanitizer, and all of them would give way before their last node.
    constexpr int first = 10;
    barrier gate;
    std::atomic<bool> fibers_are_used{false};
    followers light;
    int heavy_nodes = 0; // these on the one loop
    std::vector<int> heavy_nodes_at_end;
    sample::work = [&](const sample::Listen_out &) {
        const std::uint64_t id = flux::running_flow->id();
        if (id <= first) {
            if (is_at(sample::node_Begin)) {
                gate.wait();
            }
        } else if (id == first + 1) {
            ++heavy_nodes;
            light.hold_loop();
        } else if (is_at(sample::node_End)) {
            heavy_nodes_at_end.push_back(heavy_nodes);
        }
    };
    light.make(11, [](int) { return plain(); });
    sample::listen = [&, made = 0, then = sample::listen](sample::Listen_out &into) mutable {
        if (made < first) {
            ++made;
            into = plain();
            return true;
        }
        await([&] { return fibers_are_used.load(); });
        return then(into);
    };
    {
        running_source running(sample::program, sample::source_Listen, strategy_kind::event, 100, 1);
        await([&] { return gate.waiting() == first; });
        gate.wake_all();
        running.await_finished(first);
        fibers_are_used = true;
        running.await_finished(first + 11);
    }
    // On a busy machine a light one may be interrupted for longer than its slice, and then it gives way itself: how
    // many end between the two nodes of the heavy one is not said, but without its giving way none would.
    EXPECT_GE(std::count(heavy_nodes_at_end.begin(), heavy_nodes_at_end.end(), 1), 1);
    EXPECT_EQ(heavy_nodes_at_end.size(), 10u);
    EXPECT_EQ(heavy_nodes, 2);
}

/// All of the flow is under a constraint.
flux::outcome run_held(flux::flow &flow, sample::Listen_out &values)
{
    static flux::program_lock around{0};
    const flux::hold held(flow, around, flux::mode::read);
    return sample::Main_run(flow, values);
}

constexpr flux::source_info held_sources[] = {flux::make_source<sample::Listen_produce, run_held>(
    {"Listen", "a.flux", 1}, sample::function_Listen_produce, sample::function_Main_run)};

TEST(Event, WhoHoldsAConstraintDoesNotGiveWay)
{
    flux::program in = sample::program;
    in.sources = held_sources;
    followers light;
    std::vector<std::uint64_t> ended; // on the one loop
    sample::work = [&](const sample::Listen_out &) {
        if (flux::running_flow->id() == 1) {
            light.hold_loop();
        }
        if (is_at(sample::node_End)) {
            ended.push_back(flux::running_flow->id());
        }
    };
    light.make(4, [](int) { return plain(); });
    {
        running_source running(in, 0, strategy_kind::event, 100, 1);
        running.await_finished(4, 0);
    }
    EXPECT_EQ(ended, (std::vector<std::uint64_t>{1, 2, 3, 4}));
}

TEST(Event, FlowsWaitToStartWhereThereIsNoFiberForThem)
{
    constexpr std::size_t fibers = 3;
    barrier gate;
    std::atomic<int> begun{0};
    sample::work = [&](const sample::Listen_out &) {
        if (is_at(sample::node_Begin)) {
            ++begun;
            gate.wait();
        }
    };
    sample::listen = sample::flows(20, [](int) { return plain(); });
    flux::runners all(sample::program);
    const auto strategy = flux::make_event_strategy(all, sample::program, 1, flux::make_reactor, {.fibers = fibers});
    flux::source source(sample::program, sample::source_Listen, {.most = 100}, *strategy, *all.borrow(), all.times());
    source.start();
    const auto ended = [&] {
        const flux::source_counts now = all.total().of_source(sample::source_Listen);
        return now.started - now.in_progress();
    };
    await([&] {
        EXPECT_LE(gate.waiting(), fibers);
        gate.wake_all();
        return ended() == 20;
    });
    EXPECT_EQ(begun, 20);
    await([&] {
        source.stop();
        return source.ended();
    });
    source.join();
    strategy->finish();
    sample::listen = nullptr;
    sample::work = nullptr;
}

TEST(Event, ALoopWithoutAFiberHoldsUpNoFlow)
{
    barrier gate;
    std::atomic<int> ended{0};
    sample::work = [&](const sample::Listen_out &) {
        if (is_at(sample::node_Begin) && flux::running_flow->id() == 1) {
            gate.wait(); // with the only fiber of its loop
        } else if (is_at(sample::node_End)) {
            ++ended;
        }
    };
    sample::listen = sample::flows(20, [](int) { return plain(); });
    flux::runners all(sample::program);
    const auto strategy = flux::make_event_strategy(all, sample::program, 2, flux::make_reactor, {.fibers = 1});
    flux::source source(sample::program, sample::source_Listen, {.most = 100}, *strategy, *all.borrow(), all.times());
    source.start();
    await([&] { return ended == 19; });
    gate.wake_all();
    await([&] {
        source.stop();
        return ended == 20 && source.ended() && all.flows_in_progress() == 0;
    });
    source.join();
    strategy->finish();
    sample::listen = nullptr;
    sample::work = nullptr;
}

/// The node that the flow is at is `blocking`, and does this.
template <class Call>
void block(Call call)
{
    flux::running_flow->call(flux::running_flow->position());
    flux::running_flow->beside_loops(call);
}

TEST(Event, ANodeThatBlocksHoldsUpNoLoop)
{
    std::atomic<int> others{0};
    std::set<std::thread::id> loop; // on the one loop
    std::thread::id beside;
    sample::work = [&](const sample::Listen_out &) {
        loop.insert(std::this_thread::get_id());
        if (is_at(sample::node_End) && flux::running_flow->id() != 1) {
            ++others;
        } else if (is_at(sample::node_Begin) && flux::running_flow->id() == 1) {
            block([&] {
                beside = std::this_thread::get_id();
                await([&] { return others == 20; });
            });
        }
    };
    sample::listen = sample::flows(21, [](int) { return plain(); });
    running_source running(sample::program, sample::source_Listen, strategy_kind::event, 30, 1);
    running.await_finished(21);
    EXPECT_EQ(others, 20);
    EXPECT_EQ(loop.size(), 1u);
    EXPECT_FALSE(loop.contains(beside));
    EXPECT_EQ(running.facts().blocking_threads, 1u);
    for (const flux::loop_hold &each : running.facts().holds) {
        EXPECT_NE(each.node, static_cast<flux::node_number>(sample::node_Begin)) << "it held no loop";
    }
}

TEST(Event, WhatANodeThatBlocksThrowsIsItsError)
{
    sample::work = [](const sample::Listen_out &) {
        if (is_at(sample::node_Begin)) {
            try {
                block([] { throw std::runtime_error("no disk"); });
                ADD_FAILURE() << "nothing was thrown";
            } catch (...) {
                EXPECT_TRUE(is_at(sample::node_Begin));
                EXPECT_EQ(flux::running_flow->caught(), flux::exception_thrown);
            }
        }
    };
    sample::listen = sample::flows(3, [](int) { return plain(); });
    running_source running(sample::program, sample::source_Listen, strategy_kind::event, 10, 1);
    running.await_finished(3);
    EXPECT_EQ(running.counts().finished[flux::index_of(flux::outcome::done)], 3u);
}

TEST(Event, ACrashOfANodeThatBlocksNamesIt)
{
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    const auto crash = [] {
        flux::install_crash_message();
        sample::work = [](const sample::Listen_out &) {
            if (is_at(sample::node_End)) {
                block([] { std::abort(); });
            }
        };
        sample::listen = sample::flows(1, [](int) { return plain(); });
        running_source running(sample::program, sample::source_Listen, strategy_kind::event, 10, 1);
        running.await_finished(1);
    };
    EXPECT_DEATH(crash(), "SIGABRT in End \\(sample.flux:5\\), flow 1 of Listen");
}

TEST(Event, ConstraintsAreHeldWhileANodeBlocks)
{
    static flux::program_lock around{0};
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    sample::work = [&](const sample::Listen_out &) {
        if (is_at(sample::node_Begin)) {
            const flux::hold held(*flux::running_flow, around, flux::mode::write);
            block([&] {
                most = std::max(most.load(), ++inside);
                std::this_thread::yield();
                --inside;
            });
        }
    };
    sample::listen = sample::flows(100, [](int) { return plain(); });
    running_source running(sample::program, sample::source_Listen, strategy_kind::event, 30, 2);
    running.await_finished(100);
    EXPECT_EQ(most, 1);
    EXPECT_EQ(running.facts().blocking_threads, 1u) << "who waits for the constraint has no thread";
}

/// Runs three flows on one loop whose last node calls `hold()` until the watchdog has found that it holds the loop, for
/// 5 ms at least, and that each time; what is said.
std::string hold_loop(std::function<void()> hold)
{
    std::atomic<running_source *> watched{nullptr};
    // What the runtime does for the node, before it is called, may be a hold as well where that is slow.
    const auto found = [&](std::uint64_t times) {
        const flux::loop_facts known = watched.load()->facts();
        return std::any_of(known.holds.begin(), known.holds.end(), [&](const flux::loop_hold &each) {
            return each.node == sample::node_End && each.times >= times && each.longest >= 5ms;
        });
    };
    std::uint64_t holds = 0; // on the one loop
    sample::work = [&](const sample::Listen_out &) {
        if (is_at(sample::node_End)) {
            ++holds;
            // It is found while it goes on, however long that takes on a busy machine; longer makes it no other hold.
            const hang_limit limit;
            while (watched.load() == nullptr || !found(holds)) {
                hold();
                limit.check();
            }
        }
    };
    sample::listen = sample::flows(3, [](int) { return plain(); });
    testing::internal::CaptureStderr();
    {
        running_source running(sample::program, sample::source_Listen, strategy_kind::event, 1, 1);
        watched = &running;
        running.await_finished(3);
        EXPECT_TRUE(found(3));
    }
    return testing::internal::GetCapturedStderr();
}

TEST(Event, TheWatchdogNamesTheNodeThatHoldsALoop)
{
    const std::string line = "flux: End (sample.flux:5) holds its event loop for more than a millisecond: it ";
    // What the test itself computes between two holds may be found first; `thread_usage_test.cpp` tells them apart.
    const std::string either[] = {line + "computes, and other flows wait\n",
                                  line + "waits in a system call, and other flows wait\n"};
    const std::function<void()> holds[] = {[] { spin(20ms); }, [] { sleep_uncaught(20ms); }};
    for (const auto &hold : holds) {
        const std::string said = hold_loop(hold);
        EXPECT_TRUE(said == either[0] || said == either[1]) << said;
    }
}

} // namespace
