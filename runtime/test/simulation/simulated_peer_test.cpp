#include "flux/simulation/simulated_peer.hpp"

#include "../support/seeds.hpp"

#include <cerrno>
#include <gtest/gtest.h>
#include <set>
#include <vector>

namespace {

using namespace std::chrono_literals;
using flux::simulated_faults;
using flux::simulated_peer;

const flux::address port_7 = flux::loopback_address(7);

/// Peers among themselves.
class world
{
  public:
    explicit world(std::uint64_t seed, const simulated_faults &faults = {}) : time(seed), network_(time, faults) {}
    ~world()
    {
        time.forget();
        for (const auto &each : peers_) {
            stacks_.give_back(each->on());
        }
    }

    void add(std::string name, simulated_peer::script does)
    {
        peers_.push_back(
            std::make_unique<simulated_peer>(network_, std::move(name), std::move(does), *stacks_.take()));
    }

    /// Runs until nothing can happen any more: what everybody waits for then.
    std::set<std::string> run()
    {
        while (time.advance(flux::never)) {
            time.happen();
        }
        std::set<std::string> waiting;
        for (const auto &each : peers_) {
            if (!each->ended()) {
                waiting.insert(each->name() + ": " + std::string(each->waits_for()));
            }
        }
        return waiting;
    }

    flux::simulated_time time;

  private:
    flux::simulated_network network_;
    flux::stack_store stacks_;
    std::vector<std::unique_ptr<simulated_peer>> peers_;
};

using nobody = std::set<std::string>;

/// Sends back all that one client sends.
void serve_echo(simulated_peer &self)
{
    ASSERT_EQ(self.listen(port_7), 0);
    self.accept();
    for (std::string some = self.receive(); !some.empty(); some = self.receive()) {
        if (self.send(some) != 0) {
            return;
        }
    }
}

/// Tries until somebody listens there.
void connect(simulated_peer &self)
{
    while (self.connect(port_7) != 0) {
        self.wait(1ms);
    }
}

TEST(SimulatedPeer, AllThatIsSentArrivesInItsOrder)
{
    std::string sent;
    for (int number = 0; number < 1000; ++number) {
        sent += std::to_string(number) + ',';
    }
    for (const std::uint64_t seed : each_seed(100)) {
        simulated_faults faults;
        faults.short_transfers = seed % 2 == 0 ? 500 : 0;
        faults.small_windows = seed % 3 == 0 ? 1000 : 0;
        world all(seed, faults);
        std::string answer;
        all.add("server", serve_echo);
        // More than fits into the windows, and both would wait for the other to receive.
        const std::size_t size = seed % 3 == 0 ? 2 : 100;
        all.add("client", [&](simulated_peer &self) {
            connect(self);
            for (std::size_t begin = 0; begin < sent.size(); begin += size) {
                const std::string_view part = std::string_view(sent).substr(begin, size);
                ASSERT_EQ(self.send(part), 0);
                answer += self.receive_exactly(part.size());
            }
            self.end_output();
            EXPECT_EQ(self.receive(), "");
            EXPECT_FALSE(self.broken());
        });
        EXPECT_EQ(all.run(), nobody());
        EXPECT_EQ(answer, sent);
    }
}

TEST(SimulatedPeer, AFullWindowHoldsTheSenderBack)
{
    world all(1);
    std::size_t sent = 0;
    all.add("server", [](simulated_peer &self) {
        ASSERT_EQ(self.listen(port_7), 0);
        self.accept();
        self.wait(1h);
        EXPECT_EQ(self.receive_all().size(), 100'000u);
    });
    all.add("client", [&](simulated_peer &self) {
        connect(self);
        for (; sent < 100'000; sent += 1'000) {
            ASSERT_EQ(self.send(std::string(1'000, 'x')), 0);
            if (sent == 66'000) {
                EXPECT_GT(self.now(), flux::simulated_time::start + 1h);
            } else if (sent == 64'000) {
                EXPECT_LT(self.now(), flux::simulated_time::start + 1min);
            }
        }
    });
    EXPECT_EQ(all.run(), nobody());
}

TEST(SimulatedPeer, WhoIsGoneWithoutHavingReceivedAllBreaksTheConnection)
{
    world all(1);
    all.add("server", [](simulated_peer &self) {
        ASSERT_EQ(self.listen(port_7), 0);
        self.accept();
        EXPECT_EQ(self.receive(1).size(), 1u);
        self.wait(1s);
        self.close();
    });
    all.add("client", [](simulated_peer &self) {
        connect(self);
        ASSERT_EQ(self.send("hello"), 0);
        EXPECT_EQ(self.receive_all(), "");
        EXPECT_TRUE(self.broken());
        EXPECT_EQ(self.send("more"), EPIPE);
    });
    EXPECT_EQ(all.run(), nobody());
}

TEST(SimulatedPeer, TheNetworkBreaksAConnectionAtTheStepThatItIsToldTo)
{
    std::set<std::size_t> received;
    for (std::uint64_t step = 1; step <= 60; ++step) {
        simulated_faults faults;
        faults.reset_at_step = step;
        faults.longest_delay = 0us;
        world all(3, faults);
        bool connected = false;
        all.add("server", [](simulated_peer &self) {
            ASSERT_EQ(self.listen(port_7), 0);
            self.accept();
            self.send(self.receive_all());
        });
        all.add("client", [&](simulated_peer &self) {
            self.wait(10ms);
            connected = self.connect(port_7) == 0;
            if (connected) {
                for (int part = 0; part < 10 && self.send("x") == 0; ++part) {
                    self.wait(5ms);
                }
                self.end_output();
                const std::string answer = self.receive_all();
                received.insert(answer.size());
                EXPECT_TRUE(self.broken() || answer.size() == 10u) << "at step " << step;
            }
        });
        const nobody waiting = all.run();
        EXPECT_EQ(connected, step != 1);
        EXPECT_EQ(waiting, connected ? nobody() : nobody{"server: somebody to accept"}) << "at step " << step;
    }
    EXPECT_TRUE(received.contains(10));
    EXPECT_TRUE(received.contains(0));
}

TEST(SimulatedPeer, NobodyListens)
{
    world all(1);
    all.add("client", [](simulated_peer &self) { EXPECT_EQ(self.connect(port_7), ECONNREFUSED); });
    EXPECT_EQ(all.run(), nobody());
}

TEST(SimulatedPeer, TwoCannotListenAtOnePort)
{
    world all(1);
    for (int number = 0; number < 2; ++number) {
        all.add("server", [](simulated_peer &self) {
            const int error = self.listen(port_7);
            self.wait(1s);
            if (error == 0) {
                self.wait(1s);
                EXPECT_EQ(self.listen(flux::loopback_address(0)), 0);
            } else {
                EXPECT_EQ(error, EADDRINUSE);
            }
        });
    }
    EXPECT_EQ(all.run(), nobody());
}

TEST(SimulatedPeer, MessagesAreLostAndDoubledAsOftenAsToldAndWholeElse)
{
    simulated_faults faults;
    faults.lost_messages = 200;
    faults.doubled_messages = 200;
    world all(1, faults);
    std::map<std::string, int> received;
    all.add("server", [&](simulated_peer &self) {
        ASSERT_EQ(self.bind(port_7), 0);
        for (auto message = self.receive_message(1min); message; message = self.receive_message(1min)) {
            ++received[message->first];
        }
    });
    all.add("client", [](simulated_peer &self) {
        ASSERT_EQ(self.bind(flux::loopback_address(0)), 0);
        self.wait(10ms);
        for (int number = 0; number < 1000; ++number) {
            self.send_message(port_7, "message " + std::to_string(number));
        }
    });
    EXPECT_EQ(all.run(), nobody());
    std::map<int, int> times;
    for (const auto &[message, copies] : received) {
        EXPECT_TRUE(message.starts_with("message "));
        ++times[copies];
    }
    EXPECT_NEAR(times[1], 640, 60);
    EXPECT_NEAR(times[2], 160, 50);
    EXPECT_EQ(times.size(), 2u);
}

TEST(SimulatedPeer, ItIsSaidWhatWhoHangsWaitsFor)
{
    world all(1);
    // Who hangs is not destroyed, and so has nothing in memory.
    all.add("server", [](simulated_peer &self) {
        ASSERT_EQ(self.listen(port_7), 0);
        self.accept();
        ASSERT_EQ(self.send(self.receive_exactly(5)), 0);
        self.receive(1);
    });
    all.add("client", [](simulated_peer &self) {
        connect(self);
        ASSERT_EQ(self.send("hello"), 0);
        EXPECT_EQ(self.receive_exactly(6), "");
    });
    EXPECT_EQ(all.run(), (nobody{"client: something to receive", "server: something to receive"}));
}

TEST(SimulatedPeer, EveryEighthMixtureHasNoFaultsAndEachKindIsSomewhere)
{
    simulated_faults seen;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const simulated_faults faults = flux::faults_of(seed);
        const auto all = faults.short_transfers + faults.false_wakes + faults.resets + faults.reset_at_step +
                         faults.out_of_memory + faults.out_of_descriptors + faults.lost_messages +
                         faults.doubled_messages + faults.small_windows;
        EXPECT_TRUE(seed % 8 != 0 || all == 0);
        seen.short_transfers |= faults.short_transfers;
        seen.false_wakes |= faults.false_wakes;
        seen.resets |= faults.resets;
        seen.reset_at_step |= faults.reset_at_step;
        seen.out_of_memory |= faults.out_of_memory;
        seen.out_of_descriptors |= faults.out_of_descriptors;
        seen.lost_messages |= faults.lost_messages;
        seen.doubled_messages |= faults.doubled_messages;
        seen.small_windows |= faults.small_windows;
    }
    EXPECT_TRUE(seen.short_transfers && seen.false_wakes && seen.resets && seen.reset_at_step && seen.out_of_memory &&
                seen.out_of_descriptors && seen.lost_messages && seen.doubled_messages && seen.small_windows);
}

} // namespace
