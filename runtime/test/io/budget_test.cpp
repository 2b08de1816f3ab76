#include "flux/io/budget.hpp"

#include "../support/io_peers.hpp"
#include "../support/io_world.hpp"
#include "../support/network_sockets.hpp"

#include <flux/body_pipe.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <thread>

namespace {

using namespace std::chrono_literals;

/// More calls than anybody is to make before he is stopped: so a test ends that has failed.
constexpr int too_many = 10'000'000;

/// A peer that sends for ever, on a thread, faster than anybody reads.
class flood
{
  public:
    explicit flood(const flux::address &to) : peer_(to), sends_([this] { send(); }) {}
    ~flood()
    {
        shutdown(peer_.socket.get(), SHUT_RDWR);
        sends_.join();
    }

  private:
    void send()
    {
        const std::string much = pattern(1 << 20);
        while (::send(peer_.socket.get(), much.data(), much.size(), MSG_NOSIGNAL) > 0) {
        }
    }

    const plain_peer peer_;
    std::thread sends_;
};

/// The error that ends calls which never wait.
template <class Call>
int error_of_many(Call call)
{
    for (int number = 0; number < too_many; ++number) {
        if (const int error = call(); error != 0) {
            return error;
        }
    }
    return 0;
}

template <class World>
class Budget : public testing::Test
{
};

using worlds = testing::Types<blocking_world, reactor_world, proactor_world>;
TYPED_TEST_SUITE(Budget, worlds);

TYPED_TEST(Budget, AFlowThatNeverWaitsSeesItsDeadlineAndItsCancellation)
{
    TypeParam world;
    world.start([&](flux::flow &here) {
        const place server(world.io());
        const flood sends(server.listener->local());
        const auto accepted = server.accept();
        const auto read = [&] {
            std::array<std::byte, 16> some;
            const auto count = accepted->receive(some);
            return count.has_value() ? 0 : count.error();
        };
        EXPECT_EQ(read(), 0);
        here.set_deadline(in(20ms));
        EXPECT_EQ(error_of_many(read), ETIMEDOUT);
        here.set_deadline(never);
        EXPECT_EQ(read(), 0) << "nothing is lost, and the stream goes on";
        here.cancel();
        EXPECT_EQ(error_of_many(read), ECANCELED);
    });
    world.run();
}

TYPED_TEST(Budget, SoDoesOneThatSendsMessagesOrPutsThemIntoABody)
{
    TypeParam world;
    world.start([&](flux::flow &here) {
        const auto own = *world.io().bind(flux::loopback_address(0));
        const std::array<std::byte, 1> message{};
        const auto send = [&] {
            const auto sent = own->send(message, own->local());
            return sent.has_value() ? 0 : sent.error();
        };
        flux::body_pipe window(16);
        const auto pass = [&] {
            std::array<std::byte, 16> some;
            const auto pushed = window.push("some");
            const auto pulled = pushed.has_value() ? window.pull(some) : flux::unexpected(pushed.error());
            return pulled.has_value() ? 0 : pulled.error();
        };
        here.set_deadline(in(20ms));
        EXPECT_EQ(error_of_many(send), ETIMEDOUT);
        EXPECT_EQ(error_of_many(pass), ETIMEDOUT);
    });
    world.run();
}

TYPED_TEST(Budget, OneSendOfVeryMuchSeesItsDeadline)
{
    TypeParam world;
    world.start([&](flux::flow &) {
        const place server(world.io());
        const plain_peer peer(server.listener->local());
        std::thread reads([&] {
            std::array<char, 1 << 16> some;
            while (recv(peer.socket.get(), some.data(), some.size(), 0) > 0) {
            }
        });
        auto accepted = server.accept();
        std::string much = pattern(1 << 20);
        std::vector<iovec> parts(1 << 16, iovec{much.data(), much.size()}); // 64 GiB
        EXPECT_EQ(accepted->send(parts, in(50ms)).error(), ETIMEDOUT);
        accepted.reset();
        reads.join();
    });
    world.run();
}

/// On one loop, a flow whose peer is always faster is served together with others: it lets them go first.
void expect_others_are_served(const network::make_strategy &way)
{
    // How often the flow receives is counted from when the other has asked, not from when the machine got to that.
    std::atomic<bool> other_has_asked{false};
    std::atomic<bool> other_is_served{false};
    network::first = flux::first_given::with_input;
    network::serve = [&](flux::flow &, flux::connection &client) {
        std::array<std::byte, 64> some;
        auto count = client.receive(some);
        if (count.has_value() && some[0] == std::byte{'?'}) {
            other_is_served = true;
            client.send("!");
        }
        int calls = 0;
        while (!other_is_served && count.has_value() && calls < too_many) {
            calls += other_has_asked ? 1 : 0;
            count = client.receive(some);
        }
        EXPECT_LT(calls, too_many);
        client.close();
        return 0;
    };
    network::served_at = flux::loopback_address(0);
    network::running_server server(way);
    network::await_listening();
    {
        const flood first(network::served_at);
        network::socket_peer other;
        EXPECT_EQ(other.connect(network::served_at), 0);
        EXPECT_EQ(other.send("?"), 0);
        other_has_asked = true;
        EXPECT_EQ(other.receive(1), "!");
    }
    server.end();
}

TEST(Budget, OthersAreServedBesideAFlowThatNeverWaits)
{
    expect_others_are_served(network::on_loops(flux::make_reactor));
    expect_others_are_served(network::on_loops(flux::make_proactor));
}

/// Where a flow waits that counts how often it lets others go first.
class polite_place final : public flux::waiter
{
  public:
    bool wait_until(flux::moment) noexcept override { return true; }
    void wake() noexcept override {}
    void give_way() noexcept override { ++times; }

    int times = 0;
};

TEST(Budget, IsRefilledByLettingOthersGoFirst)
{
    flux::runner own(sample::program);
    polite_place place;
    own.wait_at(place);
    flux::flow flow;
    flow.run_on(own);
    flux::running_flow = &flow;
    for (std::uint32_t call = 0; call < 2 * flux::io_budget; ++call) {
        EXPECT_EQ(flux::within_io_budget(), 0);
        flux::spend_io_budget(0);
    }
    EXPECT_EQ(place.times, 1);
    EXPECT_EQ(flux::within_io_budget(), 0);
    EXPECT_EQ(place.times, 2);
    flux::spend_io_budget(std::size_t{flux::io_budget} * 4096);
    EXPECT_EQ(flux::within_io_budget(), 0);
    EXPECT_EQ(place.times, 3) << "bytes cost too";
    flux::running_flow = nullptr;
}

} // namespace
