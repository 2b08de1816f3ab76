#include "flux/server/running_server.hpp"

#include "flux/io/server_io.hpp"
#include "flux/io/park.hpp"
#include "flux/process/takeover.hpp"
#include "flux/sleep.hpp"
#include "../support/network_sockets.hpp"
#include "../support/running_source.hpp"
#include "../support/patience.hpp"

#include <atomic>
#include <filesystem>
#include <functional>
#include <future>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <thread>
#include <unistd.h>

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
    await([&] { return begun >= 2; });
    std::thread opener([&] {
        await([&] { return server.io().entrances.drains(); });
        dawdle(20ms);
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
    EXPECT_TRUE(facts.abandoned.empty());
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
        flux::park never(*flux::running_flow, flux::park_reason::flow);
        never.wait();
    };
    sample::listen = sample::flows(2, [](int) { return sample::Listen_out{2, 2, sample::node_Begin}; });
    chosen.drain = 100ms;
    flux::running_server server(served, chosen);
    server.start();
    await([&] { return begun >= 2; });
    testing::internal::CaptureStderr();
    EXPECT_FALSE(server.drain(0s));
    EXPECT_TRUE(server.cancel());
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("flux:   2 flows of Listen (sample.flux:8) in Begin (sample.flux:2), for "), said.npos) << said;
    server.finish();
    const flux::run_facts facts = server.facts();
    EXPECT_EQ(facts.counts.of_source(0).cancelled, 2u);
    EXPECT_TRUE(facts.abandoned.empty());
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
    await([&] { return begun >= 1; });
    testing::internal::CaptureStderr();
    EXPECT_FALSE(server.drain(0s));
    EXPECT_FALSE(server.cancel());
    EXPECT_NE(testing::internal::GetCapturedStderr().find("of these, abandoned where they are: 1\n"),
              std::string::npos);
    const flux::run_facts facts = server.facts();
    ASSERT_EQ(facts.abandoned.size(), 1u);
    EXPECT_EQ(facts.abandoned[0].node, sample::node_Begin);
    EXPECT_EQ(facts.abandoned[0].flows, 1u);
    EXPECT_GE(facts.abandoned[0].longest, 1s) << "so long it had to end when it was cancelled";
    open = true;
    open.notify_all();
    await([&] { return server.drain(0s); }); // a try takes 10 ms at least, and a busy machine may need some
    server.finish();
}

TEST_P(RunningServer, ADrainStopsNoSourceWhileSomebodyWaitsToBeAccepted)
{
    const auto own = std::make_shared<flux::server_io>();
    std::optional<flux::entrance> door;
    int asked = 0;
    bool was_stopped = false;
    sample::listen = [&](sample::Listen_out &out) {
        if (++asked > 1) {
            return sample::nothing_comes();
        }
        await([&] { return own->entrances.drains(); });
        dawdle(20ms); // there were several looks of the drain by then
        was_stopped = flux::running_flow->cancelled();
        door->close();
        out = {2, 2, -1};
        return true;
    };
    flux::running_server server(served, chosen, own);
    door.emplace(std::shared_ptr<flux::accepting>(own, &own->entrances));
    server.start();
    EXPECT_TRUE(server.drain(1h));
    server.finish();
    EXPECT_FALSE(was_stopped);
    EXPECT_EQ(server.facts().counts.of_source(0).finished[flux::index_of(outcome::done)], 1u);
}

INSTANTIATE_TEST_SUITE_P(Each, RunningServer,
                         testing::Values(strategy_kind::thread, strategy_kind::pool, strategy_kind::event),
                         [](const auto &tested) { return std::string(flux::strategy_name(tested.param)); });

/// A server of the `network` program.
struct network_way {
    const char *name;
    strategy_kind strategy;
    flux::io_kind io;
};

class ServerOfConnections : public testing::TestWithParam<network_way>
{
  protected:
    ServerOfConnections()
    {
        chosen.strategy = GetParam().strategy;
        chosen.io = GetParam().io;
        chosen.workers = 2;
        network::served_at = flux::loopback_address(0);
        network::serve = std::ref(answering);
    }

    ~ServerOfConnections() override
    {
        network::listeners.clear();
        network::serve = nullptr;
    }

    /// Starts it, and returns when it listens with all sockets that it has adopted.
    static void start(flux::running_server &server)
    {
        network::listens = false;
        server.start();
        network::await_listening();
        EXPECT_TRUE(server.io().sockets.any_open());
        EXPECT_TRUE(server.io().sockets.all_adopted_are_taken());
    }

    static std::string answer_to(network::socket_peer &client, const std::string &request)
    {
        EXPECT_EQ(client.send(request + "\n"), 0);
        return client.receive_exactly(request.size() + 1);
    }

    network::answering answering{0s, 1h};
    flux::options chosen;
};

TEST_P(ServerOfConnections, ADrainServesWhoWasAcceptedAndNobodyLater)
{
    flux::running_server server(network::program, chosen);
    start(server);
    network::socket_peer served;
    network::socket_peer silent;
    network::socket_peer late;
    ASSERT_EQ(served.connect(network::served_at), 0);
    EXPECT_EQ(answer_to(served, "one"), "ONE\n");
    ASSERT_EQ(silent.connect(network::served_at), 0);
    std::thread drain([&] { EXPECT_TRUE(server.drain(1h)); });
    await([&] { return server.io().entrances.drains(); });
    EXPECT_EQ(answer_to(silent, "two"), "TWO\n") << "it came before the drain";
    drain.join();
    EXPECT_EQ(served.receive_all(), "") << "between two requests it is closed";
    EXPECT_EQ(silent.receive_all(), "");
    EXPECT_EQ(late.connect(network::served_at), 0) << "it waits in the socket for the next server";
    server.finish();
    EXPECT_EQ(server.facts().counts.of_source(0).finished[flux::index_of(outcome::done)], 2u);
}

TEST_P(ServerOfConnections, OneHandsOverToTheNextAndNoClientNotices)
{
    const std::string folder = testing::TempDir() + "flux-two-servers-" + std::to_string(getpid());
    std::filesystem::create_directory(folder);
    const flux::end_signals signals;
    flux::running_server first(network::program, chosen);
    flux::takeover first_place(folder + "/place", signals, first.io().sockets);
    start(first);
    first_place.begun();
    std::future<flux::end_reason> first_end = std::async(std::launch::async, [&] { return first_place.wait(); });
    std::atomic<bool> over{false};
    std::atomic<int> answers{0};
    std::thread client([&] {
        for (int number = 0; !over; ++number) {
            network::socket_peer self;
            ASSERT_EQ(self.connect(network::served_at), 0) << "nobody is refused";
            const std::string request = "r" + std::to_string(number);
            ASSERT_EQ(answer_to(self, request), network::upper_case(request) + "\n");
            ++answers;
        }
    });
    await([&] { return answers >= 10; });
    flux::running_server second(network::program, chosen);
    flux::takeover second_place(folder + "/place", signals, second.io().sockets);
    start(second);
    second.io().sockets.settle_adopted();
    second_place.begun();
    EXPECT_EQ(first_end.get().successor, getpid());
    EXPECT_TRUE(first.drain(1h));
    first.finish();
    EXPECT_TRUE(first.io().entrances.drains());
    EXPECT_FALSE(second.io().entrances.drains());
    await([&, before = answers.load()] { return answers >= before + 10; });
    over = true;
    client.join();
    EXPECT_TRUE(second.drain(1h));
    second.finish();
    const auto served_by = [](flux::running_server &server) {
        return server.facts().counts.of_source(0).finished[flux::index_of(outcome::done)];
    };
    EXPECT_GE(served_by(first), 10u);
    EXPECT_GE(served_by(second), 10u);
    EXPECT_EQ(answering.answered.size(), static_cast<std::size_t>(answers));
    std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Each, ServerOfConnections,
                         testing::Values(network_way{"thread", strategy_kind::thread, {}},
                                         network_way{"pool", strategy_kind::pool, {}},
                                         network_way{"reactor", strategy_kind::event, flux::io_kind::reactor},
                                         network_way{"proactor", strategy_kind::event, flux::io_kind::proactor}),
                         [](const auto &tested) { return std::string(tested.param.name); });

} // namespace
