#include "flux/server/running_server.hpp"

#include "flux/io/accepting.hpp"
#include "flux/io/park.hpp"
#include "flux/sleep.hpp"
#include "../support/running_source.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <optional>
#include <string>

namespace {

using namespace std::chrono_literals;
using flux::outcome;
using flux::strategy_kind;

class RunningServer : public testing::TestWithParam<strategy_kind>
{
  protected:
    RunningServer()
    {
        chosen.strategy = GetParam();
        chosen.workers = 2;
    }
    ~RunningServer() override
    {
        sample::listen = nullptr;
        sample::work = nullptr;
    }

    static flux::program of_listen()
    {
        flux::program in = sample::program;
        in.sources = in.sources.first(1);
        return in;
    }

    const flux::program served = of_listen();
    flux::options chosen;
};

void await(const std::atomic<int> &count, int value)
{
    while (count < value) {
        std::this_thread::sleep_for(1ms);
    }
}

TEST_P(RunningServer, FlowsEndInADrainAndNoneBegins)
{
    std::atomic<int> begun{0};
    std::atomic<bool> open{false};
    sample::work = [&](const sample::Listen_out &) {
        ++begun;
        open.wait(false);
    };
    sample::listen = sample::flows(2, [](int) { return sample::Listen_out{2, 2, sample::node_Begin}; });
    flux::running_server server(served, chosen);
    server.start();
    await(begun, 2);
    std::thread opener([&] {
        std::this_thread::sleep_for(50ms);
        open = true;
        open.notify_all();
    });
    EXPECT_TRUE(server.drain(0s));
    opener.join();
    EXPECT_EQ(server.first_source_not_ended(), nullptr);
    server.finish();
    const flux::run_facts facts = server.facts();
    EXPECT_EQ(facts.counts.of_source(0).started, 2u);
    EXPECT_EQ(facts.counts.of_source(0).finished[flux::index_of(outcome::failed)], 2u);
    EXPECT_EQ(facts.counts.of_source(0).nothing, 0u);
    EXPECT_TRUE(facts.left_behind.empty());
    ASSERT_EQ(facts.failures.size(), 1u);
    EXPECT_EQ(facts.failures[0].node, sample::node_Begin);
    EXPECT_EQ(facts.failures[0].error, 5);
    EXPECT_EQ(facts.failures[0].unhandled, 2u);
}

TEST_P(RunningServer, FlowsThatDoNotEndAreCancelledWhereTheyWait)
{
    std::atomic<int> begun{0};
    sample::work = [&](const sample::Listen_out &) {
        ++begun;
        flux::park never(*flux::running_flow);
        never.wait();
    };
    sample::listen = sample::flows(2, [](int) { return sample::Listen_out{2, 2, sample::node_Begin}; });
    chosen.drain = 100ms;
    flux::running_server server(served, chosen);
    server.start();
    await(begun, 2);
    testing::internal::CaptureStderr();
    EXPECT_FALSE(server.drain(0s));
    EXPECT_TRUE(server.cancel());
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("flux:   2 flows of Listen (sample.flux:8) in Begin (sample.flux:2), for "), said.npos) << said;
    server.finish();
    const flux::run_facts facts = server.facts();
    EXPECT_EQ(facts.counts.of_source(0).cancelled, 2u);
    EXPECT_TRUE(facts.left_behind.empty());
}

TEST_P(RunningServer, SaysWhichFlowsEvenThatDoesNotEnd)
{
    std::atomic<int> begun{0};
    std::atomic<bool> open{false};
    sample::work = [&](const sample::Listen_out &) {
        ++begun;
        open.wait(false);
    };
    sample::listen = sample::flows(1, [](int) { return sample::Listen_out{2, 2, sample::node_Begin}; });
    chosen.drain = 10ms;
    flux::running_server server(served, chosen);
    server.start();
    await(begun, 1);
    testing::internal::CaptureStderr();
    EXPECT_FALSE(server.drain(0s));
    EXPECT_FALSE(server.cancel());
    EXPECT_NE(testing::internal::GetCapturedStderr().find("of these, left behind where they are: 1\n"),
              std::string::npos);
    const flux::run_facts facts = server.facts();
    ASSERT_EQ(facts.left_behind.size(), 1u);
    EXPECT_EQ(facts.left_behind[0].node, sample::node_Begin);
    EXPECT_EQ(facts.left_behind[0].flows, 1u);
    EXPECT_GE(facts.left_behind[0].longest, 1s) << "so long it had to end when it was cancelled";
    open = true;
    open.notify_all();
    EXPECT_TRUE(server.drain(0s));
    server.finish();
}

TEST_P(RunningServer, ADrainStopsNoSourceWhileSomebodyWaitsToBeAccepted)
{
    std::optional<flux::entrance> door;
    std::atomic<bool> drains{false};
    int asked = 0;
    bool was_stopped = false;
    sample::listen = [&](sample::Listen_out &out) {
        if (++asked > 1) {
            return sample::nothing_comes();
        }
        drains.wait(false);
        for (int step = 0; step < 4; ++step) {
            std::this_thread::sleep_for(5ms); // there were several looks of the drain by then
        }
        was_stopped = flux::running_flow->cancelled();
        door->close();
        out = {2, 2, -1};
        return true;
    };
    flux::running_server server(served, chosen);
    door.emplace();
    server.start();
    drains = true;
    drains.notify_all();
    EXPECT_TRUE(server.drain(10s));
    server.finish();
    EXPECT_FALSE(was_stopped);
    EXPECT_EQ(server.facts().counts.of_source(0).finished[flux::index_of(outcome::done)], 1u);
}

INSTANTIATE_TEST_SUITE_P(Each, RunningServer,
                         testing::Values(strategy_kind::thread, strategy_kind::pool, strategy_kind::event),
                         [](const auto &tested) { return std::string(flux::strategy_name(tested.param)); });

} // namespace
