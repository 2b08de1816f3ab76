#include "flux/event/handed_over.hpp"

#include "../support/running_source.hpp"
#include "../support/patience.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <clocale>
#include <gtest/gtest.h>
#include <netdb.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;
using flux::strategy_kind;
using sample::running_source;

bool is_at(flux::node_number node)
{
    return flux::running_flow->position() == node;
}

sample::Listen_out plain()
{
    return {2, 2, -1};
}

/// Flows on one loop, of which each calls this in its first node.
class HandedOver : public testing::Test
{
  protected:
    void run(int flows, std::function<void()> in_node, std::chrono::milliseconds time = 0ms)
    {
        sample::work = [in_node](const sample::Listen_out &) {
            if (is_at(sample::node_Begin)) {
                in_node();
            }
        };
        sample::listen = sample::flows(flows, [](int) { return plain(); });
        running_source running(sample::program, sample::source_Listen, strategy_kind::event, 30, 1, 4, 0, time);
        running.await_finished(static_cast<std::uint64_t>(flows));
        facts = running.facts();
        node_times = running.all.times().of_nodes();
    }

    // How long all flows together were in their first node, and how much of that went to this.
    std::chrono::nanoseconds first_node() const { return std::chrono::nanoseconds(of_first_node().whole.sum()); }
    std::chrono::nanoseconds first_node(flux::time_kind kind) const
    {
        return std::chrono::nanoseconds(of_first_node().of[static_cast<std::size_t>(kind)].sum());
    }

    std::chrono::nanoseconds first_node(flux::park_reason reason) const
    {
        return std::chrono::nanoseconds(of_first_node().parked_for[static_cast<std::size_t>(reason)].sum());
    }

    static flux::resident &here() { return *flux::resident::running(); }

    flux::loop_facts facts;
    std::vector<flux::divided_counts> node_times;

  private:
    const flux::divided_counts &of_first_node() const
    {
        return *std::ranges::find(node_times, std::size_t{sample::node_Begin}, &flux::divided_counts::number);
    }
};

TEST_F(HandedOver, ACallIsMadeOnAnotherThreadAndTheLoopGoesOn)
{
    std::atomic<int> others{0};
    std::thread::id loop;
    run(21, [&] {
        if (flux::running_flow->id() != 1) {
            ++others;
            return;
        }
        loop = std::this_thread::get_id();
        const auto there = flux::handed_over(here(), flux::lasting::ends_by_itself, [&] {
            while (others != 20) {
                std::this_thread::yield();
            }
            return std::this_thread::get_id();
        });
        EXPECT_NE(there, loop);
        EXPECT_EQ(std::this_thread::get_id(), loop);
    });
    EXPECT_EQ(facts.call_threads, 1u);
    EXPECT_EQ(facts.wait_threads, 0u);
    EXPECT_EQ(facts.blocking_threads, 0u);
}

TEST_F(HandedOver, ItFindsErrnoAndTheLocaleAndLeavesErrnoThere)
{
    locale_t own = newlocale(LC_ALL_MASK, "C.UTF-8", nullptr);
    run(1, [&] {
        const locale_t before = uselocale(own);
        errno = ERANGE;
        h_errno = HOST_NOT_FOUND;
        const bool found = flux::handed_over(here(), flux::lasting::waits_for_others, [&] {
            const bool same = errno == ERANGE && h_errno == HOST_NOT_FOUND && uselocale(nullptr) == own;
            errno = ENOTTY;
            h_errno = TRY_AGAIN;
            return same;
        });
        EXPECT_TRUE(found);
        EXPECT_EQ(errno, ENOTTY);
        EXPECT_EQ(h_errno, TRY_AGAIN);
        uselocale(before);
    });
    EXPECT_EQ(facts.wait_threads, 1u);
    freelocale(own);
}

TEST_F(HandedOver, ACallThatWaitsForOthersIsInterruptedWhenTheTimeIsUp)
{
    int result = 0;
    int error = 0;
    run(1,
        [&] {
            result = flux::handed_over_interruptible(here(), [] { return pause(); });
            error = errno;
        },
        20ms);
    EXPECT_EQ(result, -1);
    EXPECT_EQ(error, ETIMEDOUT);
}

TEST_F(HandedOver, ACallThatWaitsForOthersIsInterruptedWhenTheFlowIsCancelled)
{
    int error = 0;
    run(1, [&] {
        std::thread cancelling([by = flux::running_flow] { by->cancel(); });
        const int result = flux::handed_over_interruptible(here(), [] { return pause(); });
        error = errno;
        EXPECT_EQ(result, -1);
        cancelling.join();
    });
    EXPECT_EQ(error, ECANCELED);
}

TEST_F(HandedOver, ACallThatIsAbandonedGoesOnAlone)
{
    struct slow final : flux::abandonable_call {
        void run() noexcept override
        {
            while (!may_end) {
                std::this_thread::yield();
            }
            ended = true;
        }
        std::atomic<bool> may_end{false};
        std::atomic<bool> ended{false};
    };
    const auto call = std::make_shared<slow>();
    const auto quick = std::make_shared<slow>();
    quick->may_end = true;
    run(1, [&] {
        EXPECT_EQ(flux::hand_over_abandonable(quick), 0);
        EXPECT_TRUE(quick->ended);
    });
    run(1,
        [&] {
            EXPECT_EQ(flux::hand_over_abandonable(call), ETIMEDOUT);
            EXPECT_FALSE(call->ended);
            call->may_end = true;
        },
        20ms);
    EXPECT_TRUE(call->ended) << "its thread is waited for at the end";
}

TEST_F(HandedOver, WhatItsThreadComputesIsNoPark)
{
    struct computing final : flux::abandonable_call {
        void run() noexcept override
        {
            compute(20ms);
            dawdle(10ms);
        }
    };
    std::chrono::nanoseconds before = flux::processor_use::of_process().time;
    const auto is_divided = [&] {
        const std::chrono::nanoseconds after = flux::processor_use::of_process().time;
        EXPECT_GE(first_node(flux::time_kind::beside), 19ms);
        EXPECT_GE(first_node(flux::park_reason::call), 9ms);
        EXPECT_LE(first_node(flux::time_kind::beside) + first_node(flux::time_kind::ran), after - before);
        before = after;
    };
    run(1, [] {
        flux::handed_over(here(), flux::lasting::ends_by_itself, [] {
            computing().run();
            return 0;
        });
    });
    is_divided();
    run(1, [] {
        const flux::blocking_call call{[](void *) { computing().run(); }, nullptr};
        EXPECT_EQ(flux::hand_over_interruptible(here(), call), 0);
    });
    is_divided();
    run(1, [] { EXPECT_EQ(flux::hand_over_abandonable(std::make_shared<computing>()), 0); });
    is_divided();
}

TEST_F(HandedOver, ItsTimeIsParkedOnce)
{
    static constexpr std::chrono::nanoseconds time = 30ms;
    const auto is_parked_for = [&](std::chrono::nanoseconds whole) {
        EXPECT_GE(first_node(flux::time_kind::parked), whole);
        EXPECT_LE(first_node(flux::time_kind::parked), first_node());
        EXPECT_GE(first_node(flux::park_reason::call), whole);
    };
    run(1, [] {
        flux::handed_over(here(), flux::lasting::ends_by_itself, [] {
            dawdle(time);
            return 0;
        });
    });
    is_parked_for(time);
    run(1, [] {
        const flux::blocking_call call{[](void *) { dawdle(time); }, nullptr};
        EXPECT_EQ(flux::hand_over_interruptible(here(), call), 0);
    });
    is_parked_for(time);
}

} // namespace
