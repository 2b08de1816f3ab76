#include "flux/connection.hpp"

#include "flux/reading.hpp"
#include "support/network_sockets.hpp"
#include "support/patience.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <functional>
#include <gtest/gtest.h>
#include <mutex>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;

/// The error of a call, or 0.
template <class Result>
int error_of(const Result &result)
{
    return result.has_value() ? 0 : result.error();
}

/// The errors of all that can be done with a connection.
std::vector<int> errors_of_all_calls(flux::connection &used)
{
    std::array<std::byte, 8> buffer{};
    return {error_of(used.receive(buffer)),  error_of(used.send("more")), error_of(used.send("")),
            error_of(used.put_back(buffer)), error_of(used.end_output()), error_of(used.give_back()),
            error_of(used.close()),          error_of(used.detach()),     error_of(used.attach()),
            used.usable()};
}

const std::vector<int> all_bad(10, EBADF);

/// Some bytes, as a text.
std::string received(flux::connection &from)
{
    std::string some;
    EXPECT_EQ(network::receive_some(from, some), 0);
    return some;
}

flux::io_result<void> put_back(flux::connection &to, std::string_view bytes)
{
    return to.put_back(std::as_bytes(std::span(bytes)));
}

/// Has `serve` run for each connection with input, in each way, while `client` runs.
class Connection : public testing::TestWithParam<std::size_t>
{
  protected:
    flux::source_counts run(std::function<int(flux::flow &, flux::connection &)> serve,
                            std::function<void(network::socket_peer &)> client)
    {
        network::first = flux::first_given::with_input;
        network::serve = std::move(serve);
        network::served_at = flux::loopback_address(0);
        network::running_server server(network::all_ways()[GetParam()].make);
        network::await_listening();
        network::socket_peer self;
        EXPECT_EQ(self.connect(network::served_at), 0);
        client(self);
        return server.end();
    }
};

std::string name_of_way(const testing::TestParamInfo<std::size_t> &which)
{
    std::string name = network::all_ways()[which.param].name;
    std::erase(name, ' ');
    return name;
}

INSTANTIATE_TEST_SUITE_P(EachWay, Connection, testing::Range(std::size_t{0}, std::size_t{6}), name_of_way);

TEST_P(Connection, OneThatItsFlowForgetsIsClosedAndCounted)
{
    const flux::source_counts counts = run([](flux::flow &, flux::connection &) { return 0; },
                                           [](network::socket_peer &self) {
                                               self.send("anybody there?");
                                               EXPECT_EQ(self.receive_all(), "");
                                           });
    EXPECT_EQ(counts.counted.forgotten, 1u);
    EXPECT_EQ(counts.first_forgot, network::node_Serve);
}

TEST_P(Connection, WhatAFlowDoesNotTakeAnotherReceives)
{
    const flux::source_counts counts = run(
        [](flux::flow &, flux::connection &client) {
            std::string taken;
            const auto take_two = [&](std::span<const std::byte> there) {
                const std::size_t count = std::min<std::size_t>(2, there.size());
                taken.assign(reinterpret_cast<const char *>(there.data()), count);
                return count;
            };
            EXPECT_THROW(client.receive_by([](auto) -> std::size_t { throw 1; }), int);
            EXPECT_EQ(error_of(client.receive_by(take_two)), 0);
            EXPECT_EQ(error_of(client.send(taken + ".")), 0);
            EXPECT_EQ(error_of(taken.empty() ? client.close() : client.give_back()), 0);
            return 0;
        },
        [](network::socket_peer &self) {
            std::string all;
            std::string answers;
            for (char letter = 'a'; letter <= 'z'; ++letter) {
                all += std::string(4, letter);
                answers += std::string(2, letter) + "." + std::string(2, letter) + ".";
            }
            self.send(all);
            self.end_output();
            EXPECT_EQ(self.receive_all(), answers + ".");
        });
    EXPECT_EQ(counts.started, 53u);
}

TEST_P(Connection, OneThatWasGivenBackOrClosedIsNoLongerItsFlows)
{
    std::mutex alone;
    std::vector<flux::connection *> before;
    const flux::source_counts counts = run(
        [&](flux::flow &, flux::connection &client) {
            const bool is_last = received(client) == "2";
            EXPECT_EQ(error_of(client.send("done")), 0);
            EXPECT_EQ(error_of(is_last ? client.close() : client.give_back()), 0);
            EXPECT_EQ(errors_of_all_calls(client), all_bad);
            const std::lock_guard one_at_a_time(alone);
            before.push_back(&client);
            return 0;
        },
        [](network::socket_peer &self) {
            self.send("1");
            EXPECT_EQ(self.receive_exactly(4), "done");
            self.send("2");
            EXPECT_EQ(self.receive_all(), "done");
        });
    EXPECT_EQ(counts.started, 2u);
    EXPECT_EQ(counts.counted.forgotten, 0u);
    for (flux::connection *const each : before) {
        EXPECT_EQ(errors_of_all_calls(*each), all_bad) << "nor anybody's after the server's end";
    }
}

TEST_P(Connection, AnotherFlowDoesNotUseItUnlessItIsDetached)
{
    if (std::string_view(network::all_ways()[GetParam()].name).starts_with("two")) {
        GTEST_SKIP() << "the other may come to another loop, where it may not be used";
    }
    // The first flow waits until the second has tried its connection.
    std::atomic<flux::connection *> of_first{nullptr};
    std::atomic<bool> is_tried{false};
    const flux::source_counts counts = run(
        [&](flux::flow &, flux::connection &client) {
            flux::connection *const other = of_first.exchange(&client);
            if (other == nullptr) {
                while (!is_tried) {
                    flux::sleep_for(1ms);
                }
                EXPECT_EQ(error_of(client.detach()), 0);
                EXPECT_EQ(error_of(client.detach()), 0) << "it is";
                EXPECT_EQ(client.usable(), 0);
                return 0;
            }
            EXPECT_EQ(errors_of_all_calls(*other), all_bad);
            is_tried = true;
            while (error_of(other->attach()) != 0) {
                flux::sleep_for(1ms);
            }
            EXPECT_EQ(error_of(other->send("from another")), 0);
            EXPECT_EQ(error_of(other->close()), 0);
            client.close();
            return 0;
        },
        [&](network::socket_peer &self) {
            self.send("1");
            await([&] { return of_first != nullptr; });
            network::socket_peer second;
            EXPECT_EQ(second.connect(network::served_at), 0);
            second.send("2");
            EXPECT_EQ(self.receive_all(), "from another");
        });
    EXPECT_EQ(counts.counted.forgotten, 0u);
}

TEST_P(Connection, WhatAFlowConnectsIsItsOwnAndThatOfItsBranches)
{
    network::socket_peer upstream;
    ASSERT_EQ(upstream.listen(flux::loopback_address(0)), 0);
    std::thread behind([&] {
        for (int number = 0; number < 2; ++number) {
            upstream.accept();
            EXPECT_EQ(upstream.receive_all(), number == 0 ? "" : "ab") << "it comes to the end";
        }
    });
    const flux::source_counts counts = run(
        [&](flux::flow &flow, flux::connection &client) {
            if (received(client).empty()) {
                return error_of(client.close());
            }
            auto forgotten = flux::connect(upstream.local());
            EXPECT_TRUE(forgotten.has_value());
            EXPECT_EQ(error_of((*forgotten)->end_output()), 0);
            flux::connection *own = nullptr;
            EXPECT_EQ(network::in_parallel(
                          flow, [&](flux::flow &) { return flux::take(flux::connect(upstream.local()), own); },
                          [&](flux::flow &) { return client.usable(); }),
                      0);
            EXPECT_EQ(error_of(own->send("a")), 0);
            EXPECT_EQ(network::in_parallel(
                          flow,
                          [&](flux::flow &) {
                              EXPECT_EQ(error_of(own->send("b")), 0);
                              EXPECT_EQ(error_of(own->close()), 0);
                              return 0;
                          },
                          [&](flux::flow &) { return error_of(client.give_back()); }),
                      0);
            EXPECT_EQ(errors_of_all_calls(*own), all_bad);
            EXPECT_EQ(errors_of_all_calls(client), all_bad);
            return 0;
        },
        [](network::socket_peer &self) {
            self.send("x");
            self.end_output();
            EXPECT_EQ(self.receive_all(), "");
        });
    behind.join();
    EXPECT_EQ(counts.started, 2u) << "what a branch gives back goes back at the end of the flow";
    EXPECT_EQ(counts.counted.forgotten, 1u);
}

/// A home of connections that says what becomes of them.
class listed_home final : public flux::connection_home
{
  public:
    std::string said;

    /// As the next who asks for a connection has it: whether there was input.
    bool lend_last()
    {
        const bool has = has_input(*last_);
        lend(*last_);
        return has;
    }

  private:
    void take_back(flux::connection &unused) noexcept override
    {
        said += "taken back; ";
        last_ = &unused;
    }
    void forget(flux::connection &) noexcept override { said += "closed; "; }

    flux::connection *last_ = nullptr;
};

TEST_P(Connection, WhatABranchHasMadeGoesHomeAtOnce)
{
    network::socket_peer upstream;
    ASSERT_EQ(upstream.listen(flux::loopback_address(0)), 0);
    const auto home = std::make_shared<listed_home>();
    const flux::source_counts counts = run(
        [&](flux::flow &flow, flux::connection &client) {
            const auto with_home = [&](flux::flow &) {
                flux::connection *made = nullptr;
                EXPECT_EQ(flux::take(flux::connect(upstream.local()), made), 0);
                EXPECT_EQ(error_of(made->set_home(home)), 0);
                EXPECT_EQ(error_of(made->give_back()), 0);
                EXPECT_EQ(home->said, "taken back; ");
                EXPECT_EQ(error_of(made->set_home(home)), EBADF);
                EXPECT_FALSE(home->lend_last());
                EXPECT_EQ(error_of(made->close()), 0);
                EXPECT_EQ(home->said, "taken back; closed; ");
                EXPECT_EQ(flux::take(flux::connect(upstream.local()), made), 0);
                EXPECT_EQ(error_of(made->set_home(home)), 0);
                return 0;
            };
            EXPECT_EQ(network::in_parallel(flow, with_home, [&](flux::flow &) { return 0; }), 0);
            EXPECT_EQ(home->said, "taken back; closed; ");
            return error_of(client.close());
        },
        [&](network::socket_peer &self) {
            self.send("x");
            EXPECT_EQ(self.receive_all(), "");
        });
    EXPECT_EQ(home->said, "taken back; closed; closed; ");
    EXPECT_EQ(counts.counted.forgotten, 1u);
}

TEST_P(Connection, ItsHomeKnowsWhetherSomethingHasCome)
{
    network::socket_peer upstream;
    ASSERT_EQ(upstream.listen(flux::loopback_address(0)), 0);
    const auto home = std::make_shared<listed_home>();
    run(
        [&](flux::flow &, flux::connection &client) {
            flux::connection *made = nullptr;
            EXPECT_EQ(flux::take(flux::connect(upstream.local()), made), 0);
            upstream.accept();
            EXPECT_EQ(error_of(made->set_home(home)), 0);
            upstream.send("answer");
            EXPECT_EQ(received(*made), "answer");
            EXPECT_EQ(error_of(made->give_back()), 0);
            EXPECT_FALSE(home->lend_last()) << "all of it was received";
            EXPECT_EQ(error_of(put_back(*made, "r")), 0);
            EXPECT_EQ(error_of(made->give_back()), 0);
            EXPECT_TRUE(home->lend_last()) << "something was put back";
            EXPECT_EQ(received(*made), "r");
            upstream.close();
            EXPECT_EQ(received(*made), "") << "it has come to its end";
            EXPECT_EQ(error_of(made->give_back()), 0);
            EXPECT_EQ(home->said, "taken back; taken back; closed; ");
            return error_of(client.close());
        },
        [&](network::socket_peer &self) {
            self.send("x");
            EXPECT_EQ(self.receive_all(), "");
        });
}

TEST_P(Connection, AClientThatHasNoMoreRequestsIsNoFailure)
{
    const flux::source_counts counts = run(
        [&](flux::flow &, flux::connection &client) {
            std::string line;
            if (const int error = flux::take(flux::read_line(client, 10), line); error != 0) {
                return error;
            }
            return error_of(client.give_back());
        },
        [](network::socket_peer &self) {
            self.send("one\ntwo\n");
            self.end_output();
            EXPECT_EQ(self.receive_all(), "");
        });
    EXPECT_EQ(counts.started, 3u);
    EXPECT_EQ(counts.finished[index_of(flux::outcome::done)], 3u);
    EXPECT_EQ(counts.counted.failures, 0u);
    EXPECT_EQ(counts.counted.forgotten, 0u) << "the flow has not come to what closes it";
}

TEST_P(Connection, WhatIsPutBackComesFirstAndCostsNothingForWhatIsBehindIt)
{
    // So much that it could not be moved for each of its pieces.
    constexpr std::size_t much = 4'000'000;
    std::string all(much, 'x');
    const flux::source_counts counts = run(
        [&](flux::flow &, flux::connection &client) {
            EXPECT_EQ(received(client), "go");
            EXPECT_EQ(error_of(put_back(client, all)), 0);
            std::array<std::byte, 64> some;
            std::size_t read = 0;
            while (read + 8 <= much) {
                EXPECT_EQ(*client.receive(some), std::min(much - read, some.size()));
                EXPECT_EQ(error_of(client.put_back(std::span(some).subspan(8, std::min(much - read, some.size()) - 8))),
                          0);
                read += 8;
            }
            EXPECT_EQ(error_of(put_back(client, "c")), 0);
            EXPECT_EQ(error_of(put_back(client, "b")), 0);
            EXPECT_EQ(error_of(put_back(client, "a")), 0);
            EXPECT_EQ(received(client), "abc");
            client.send("done");
            client.close();
            return 0;
        },
        [](network::socket_peer &self) {
            self.send("go");
            EXPECT_EQ(self.receive_all(), "done");
        });
    EXPECT_EQ(counts.started, 1u);
}

TEST_P(Connection, WhatIsPutBackGoesBeforeWhatIsThereHoweverMuchThereIs)
{
    const flux::source_counts counts = run(
        [&](flux::flow &, flux::connection &client) {
            EXPECT_EQ(received(client), "go");
            EXPECT_EQ(error_of(put_back(client, "efg")), 0);
            EXPECT_EQ(error_of(put_back(client, "d")), 0);
            EXPECT_EQ(error_of(put_back(client, "abc")), 0);
            EXPECT_EQ(received(client), "abcdefg");
            client.send("done");
            client.close();
            return 0;
        },
        [](network::socket_peer &self) {
            self.send("go");
            EXPECT_EQ(self.receive_all(), "done");
        });
    EXPECT_EQ(counts.started, 1u);
}

TEST_P(Connection, WhatIsPutBackBeginsTheNextFlow)
{
    int flows = 0;
    const flux::source_counts counts = run(
        [&](flux::flow &, flux::connection &client) {
            if (++flows == 1) {
                EXPECT_EQ(received(client), "onetwo");
                EXPECT_EQ(error_of(put_back(client, "two")), 0);
                return error_of(client.give_back());
            }
            EXPECT_EQ(received(client), "two") << "nothing more has come";
            client.send("done");
            return error_of(client.close());
        },
        [](network::socket_peer &self) {
            self.send("onetwo");
            EXPECT_EQ(self.receive_all(), "done");
        });
    EXPECT_EQ(counts.started, 2u);
}

} // namespace
