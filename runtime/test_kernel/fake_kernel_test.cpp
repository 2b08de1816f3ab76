/// \file
/// The reactor and the proactor over the fake kernel: the programs that the simulation runs, and what every run must
/// keep whatever the kernel does.

#include "fake_kernel.hpp"

#include "flux/io/proactor.hpp"
#include "flux/io/reactor.hpp"
#include "flux/io/socket.hpp"
#include "../test/support/network_scripts.hpp"
#include "../test/support/simulated_run.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <sys/socket.h>

namespace {

using namespace std::chrono_literals;
using flux::simulated_faults;
using flux::simulated_peer;
using network::for_seeds;
using network::habits;
using network::seen;

constexpr std::size_t client_count = 4;
using all_seen = std::array<seen, client_count>;

/// The I/O of a loop over the fake kernel. Its time is the world's, and so are its slices.
class over_fake_kernel final : public flux::loop_io
{
  public:
    over_fake_kernel(std::unique_ptr<flux::loop_io> tested, fake_kernel &kernel, flux::simulation &world)
        : tested_(std::move(tested)), kernel_(kernel), world_(world)
    {
    }

    const char *name() const noexcept override { return tested_->name(); }
    flux::moment now() const noexcept override { return world_.now(); }
    std::uint64_t cycles() noexcept override { return world_.cycles(); }
    std::uint64_t accepted() const noexcept override { return tested_->accepted(); }

    flux::io_result<std::unique_ptr<flux::listener>> listen(const flux::address &at) noexcept override
    {
        return tested_->listen(at);
    }
    flux::io_result<std::unique_ptr<flux::stream>> connect(const flux::address &to,
                                                           flux::moment until) noexcept override
    {
        return tested_->connect(to, until);
    }
    flux::io_result<std::unique_ptr<flux::datagram_socket>> bind(const flux::address &at) noexcept override
    {
        return tested_->bind(at);
    }
    std::unique_ptr<flux::arrivals> make_arrivals() override { return tested_->make_arrivals(); }

    void wait(flux::moment until) noexcept override
    {
        kernel_.run_on_thread();
        tested_->wait(until);
    }
    void deliver() noexcept override { tested_->deliver(); }
    void interrupt() noexcept override { tested_->interrupt(); }

  private:
    const std::unique_ptr<flux::loop_io> tested_;
    fake_kernel &kernel_;
    flux::simulation &world_;
};

/// One run of the `network` program.
class kernel_run
{
  public:
    kernel_run(flux::make_loop_io make, std::uint64_t seed)
        : is_whole(seed % 2 == 1), faults(network_faults(seed)), world(seed, faults),
          kernel(world, kernel_faults_here(seed), seed), make_(std::move(make))
    {
        network::served_at = flux::loopback_address(80);
    }

    void run()
    {
        {
            network::running_server running(network::on_loops([this] {
                kernel.run_on_thread();
                auto made = std::make_unique<over_fake_kernel>(make_(), kernel, world);
                fake_kernel::leave_thread();
                return std::unique_ptr<flux::loop_io>(std::move(made));
            }));
            world.begin();
            world.await_idle();
            EXPECT_EQ(world.unfinished_peers(), "");
            running.stop();
            world.go_on();
            EXPECT_EQ(kernel.buffers_in_use(), 0u) << "buffers are not given back";
            counts = running.end();
        }
        EXPECT_EQ(world.failed_expectations(), "");
        EXPECT_EQ(kernel.open(), 0u) << "descriptors are left open";
    }

    /// The network is in order and nothing is used up: whatever else the kernel does, nobody is to notice.
    const bool is_whole;
    const simulated_faults faults;
    flux::simulation world;
    fake_kernel kernel;
    flux::source_counts counts;

  private:
    static simulated_faults network_faults(std::uint64_t seed)
    {
        simulated_faults faults = flux::faults_of(seed);
        faults.failed_allocations = 0; // the simulation's tests fail them
        if (seed % 2 == 1) {
            const std::chrono::microseconds delay = faults.longest_delay;
            faults = {};
            faults.longest_delay = std::min<std::chrono::microseconds>(delay, 2ms);
        }
        return faults;
    }

    static kernel_faults kernel_faults_here(std::uint64_t seed)
    {
        kernel_faults faults = kernel_faults_of(seed);
        faults.refusals = seed % 2 == 1 ? 0 : faults.refusals;
        return faults;
    }

    const flux::make_loop_io make_;
};

/// Each kind of I/O that has a kernel.
class FakeKernel : public testing::TestWithParam<const char *>
{
  public:
    static std::unique_ptr<flux::loop_io> make()
    {
        return std::string(GetParam()) == "reactor" ? flux::make_reactor() : flux::make_proactor();
    }

    template <class Script>
    static void add_clients(kernel_run &run, all_seen &all, Script script)
    {
        for (std::size_t number = 0; number < client_count; ++number) {
            const auto talks = [number, script, resets = !run.is_whole, &own = all[number]](simulated_peer &self) {
                script(self, habits{[&self](std::uint64_t bound) { return self.draw(bound); }, resets}, number, own);
                own.broken = self.broken();
            };
            run.world.add("client" + std::to_string(number), talks);
        }
    }

    /// A connection ends early only where it breaks, or a flow has failed, or it could not be watched.
    static void expect_no_silent_ends(const all_seen &all, const kernel_run &run)
    {
        const auto cut_short = static_cast<std::uint64_t>(std::ranges::count_if(all, &seen::cut_short));
        const std::uint64_t failed = run.counts.finished[flux::index_of(flux::outcome::failed)];
        EXPECT_LE(cut_short, failed + run.counts.cancelled + (run.kernel.faults.refusals != 0 ? client_count : 0));
    }

    /// As above, and nothing fails where the kernel has done nothing that may be noticed.
    static void expect_failures_for(const all_seen &all, const kernel_run &run)
    {
        expect_no_silent_ends(all, run);
        if (run.is_whole) {
            EXPECT_EQ(std::ranges::count_if(all, &seen::cut_short), 0);
            EXPECT_EQ(std::ranges::count_if(all, &seen::broken), 0) << "a server that never looked has sent them away";
            EXPECT_EQ(run.counts.finished[flux::index_of(flux::outcome::failed)], 0u);
        }
    }
};

TEST_P(FakeKernel, Echo)
{
    for_seeds(150, [](std::uint64_t seed) {
        kernel_run run(make, seed);
        all_seen all;
        network::first = seed % 2 == 0 ? flux::first_given::with_input : flux::first_given::at_once;
        network::serve = network::echo;
        add_clients(run, all, [](simulated_peer &self, const habits &by, std::size_t, seen &own) {
            talk(self, by, network::unchanged, own);
        });
        run.run();
        expect_failures_for(all, run);
        return run.world.trace();
    });
}

/// Much comes at once, with the end right behind it; every third server closes when it has had enough.
TEST_P(FakeKernel, MuchAtOnce)
{
    for_seeds(150, [](std::uint64_t seed) {
        kernel_run run(make, seed);
        all_seen all;
        const bool closes_early = seed % 3 == 0;
        network::first = seed % 4 < 2 ? flux::first_given::with_input : flux::first_given::at_once;
        network::serve = [closes_early](flux::flow &here, flux::connection &client) {
            std::string some;
            if (closes_early) {
                const int error = network::receive_some(client, some);
                client.close();
                return error;
            }
            return network::echo(here, client);
        };
        add_clients(run, all, [&](simulated_peer &self, const habits &by, std::size_t, seen &own) {
            if (self.connect(network::served_at) != 0) {
                return;
            }
            std::string sent(1 + by.draw(run.faults.small_windows == 0 ? 3'000 : 1), ' ');
            std::ranges::generate(sent, [&by] { return static_cast<char>('a' + by.draw(26)); });
            if (self.send(sent) != 0) {
                return;
            }
            self.end_output();
            own.replies = self.receive_all();
            EXPECT_TRUE(sent.starts_with(own.replies)) << own.replies.size();
            own.cut_short = !closes_early && own.replies.size() != sent.size() && !self.broken();
        });
        run.run();
        if (!closes_early) {
            expect_failures_for(all, run);
        }
        return run.world.trace();
    });
}

TEST_P(FakeKernel, RequestsAreAnsweredOnceAndInOrder)
{
    for_seeds(150, [](std::uint64_t seed) {
        kernel_run run(make, seed);
        all_seen all;
        // One that is notified for nothing waits for its request, and that may come late.
        const std::chrono::milliseconds patience = run.is_whole ? 1h : std::chrono::milliseconds(40);
        network::answering answering(std::chrono::milliseconds(seed % 4), patience);
        network::first = flux::first_given::with_input;
        network::serve = std::ref(answering);
        const std::size_t at_once = run.faults.small_windows == 0 ? 3 : 1;
        add_clients(run, all, [at_once](simulated_peer &self, const habits &by, std::size_t number, seen &own) {
            ask(self, by, "client" + std::to_string(number), at_once, own);
        });
        run.run();
        for (const auto &[request, times] : answering.answered) {
            EXPECT_EQ(times, 1) << request;
        }
        for (const seen &each : all) {
            for (const auto &[request, times] : each.answers) {
                EXPECT_EQ(answering.answered[request], 1) << request;
            }
        }
        expect_failures_for(all, run);
        return run.world.trace();
    });
}

TEST_P(FakeKernel, MessagesAreAnsweredInOrder)
{
    for_seeds(150, [](std::uint64_t seed) {
        kernel_run run(make, seed);
        all_seen all;
        network::serve_messages();
        const std::size_t at_once = run.faults.small_windows == 0 ? 4 : 1;
        add_clients(run, all, [at_once](simulated_peer &self, const habits &by, std::size_t, seen &own) {
            send_messages(self, by, at_once, own);
        });
        run.run();
        expect_failures_for(all, run);
        return run.world.trace();
    });
}

TEST_P(FakeKernel, BranchesRelayBothWaysAtOnce)
{
    for_seeds(150, [](std::uint64_t seed) {
        kernel_run run(make, seed);
        all_seen all;
        network::first = flux::first_given::at_once;
        network::serve = network::relay;
        network::upstream_at = flux::loopback_address(9);
        run.world.add("upstream", [](simulated_peer &self) {
            EXPECT_EQ(self.listen(network::upstream_at), 0);
            network::serve_upstream(self);
        });
        add_clients(run, all, [&](simulated_peer &self, const habits &by, std::size_t, seen &own) {
            self.wait(run.is_whole ? 5ms : 0ms); // upstream listens by then
            talk(self, by, network::upper_case, own);
        });
        run.run();
        expect_failures_for(all, run);
        return run.world.trace();
    });
}

TEST_P(FakeKernel, AnswersComeByMessages)
{
    for_seeds(150, [](std::uint64_t seed) {
        kernel_run run(make, seed);
        all_seen all;
        network::first = flux::first_given::at_once;
        network::serve = network::look_up;
        network::answers_at = flux::loopback_address(53);
        run.world.add("answers", [](simulated_peer &self) {
            EXPECT_EQ(self.bind(network::answers_at), 0);
            while (const auto asked = self.receive_message(1h)) {
                self.send_message(asked->second, network::upper_case(asked->first));
            }
        });
        add_clients(run, all, [](simulated_peer &self, const habits &by, std::size_t, seen &own) {
            if (self.connect(network::served_at) != 0) {
                return;
            }
            for (std::uint64_t round = by.draw(5); round != 0; --round) {
                const std::string asked(1, static_cast<char>('a' + by.draw(26)));
                const std::string answer = self.send(asked) == 0 ? self.receive(1) : std::string();
                EXPECT_TRUE(network::upper_case(asked).starts_with(answer)) << answer;
                own.cut_short = answer.empty() && !self.broken();
                if (answer.empty()) {
                    return;
                }
            }
            self.end_output();
            EXPECT_EQ(self.receive_all(), "");
        });
        run.run();
        expect_no_silent_ends(all, run);
        return run.world.trace();
    });
}

TEST(FakeKernelCalls, NeitherASignalNorAPeerThatHasGoneEndsAccepting)
{
    constexpr int many = 20;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        flux::simulation world(seed, {});
        kernel_faults happen;
        happen.accept_errors = 300;
        fake_kernel kernel(world, happen, seed);
        kernel.run_on_thread();
        const flux::address at = flux::loopback_address(80);
        const flux::descriptor listener(socket(AF_INET, SOCK_STREAM, 0));
        EXPECT_EQ(bind(listener.get(), at.get(), at.size), 0);
        EXPECT_EQ(listen(listener.get(), many), 0);
        for (int number = 0; number < many; ++number) {
            world.add("client" + std::to_string(number), [&at](simulated_peer &self) { self.connect(at); });
        }
        world.begin();
        int accepted = 0;
        for (int look = 0; look < 100; ++look) {
            flux::address peer;
            auto one = flux::try_accept(listener, peer);
            if (one.has_value()) {
                ++accepted;
            } else {
                EXPECT_EQ(one.error(), EAGAIN) << strerror(one.error());
                world.wait(world.now() + 1ms);
                world.deliver();
            }
        }
        EXPECT_EQ(accepted, many);
        fake_kernel::leave_thread();
    }
}

INSTANTIATE_TEST_SUITE_P(, FakeKernel, testing::Values("reactor", "proactor"),
                         [](const auto &each) { return std::string(each.param); });

} // namespace
