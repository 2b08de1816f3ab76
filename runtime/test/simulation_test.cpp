#include "flux/simulation.hpp"

#include "flux/reactor.hpp"
#include "network_scripts.hpp"
#include "simulated_run.hpp"
#include "socket_peer.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <memory>
#include <new>
#include <set>
#include <thread>
#include <vector>

namespace {

/// Which allocation of those that may fail does, of those that fibers make: counts down to it; 0 for none.
std::atomic<int> fails_after{0};

bool allocation_fails() noexcept
{
    return flux::fiber::running() != nullptr && fails_after != 0 && --fails_after == 0;
}

} // namespace

// All that the runtime allocates for a flow it asks for so: it goes on where there is no memory.
void *operator new(std::size_t size, const std::nothrow_t &) noexcept
{
    return allocation_fails() ? nullptr : ::operator new(size);
}

void *operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t &) noexcept
{
    return allocation_fails() ? nullptr : ::operator new(size, alignment);
}

namespace {

using namespace std::chrono_literals;
using flux::outcome;
using flux::simulated_faults;
using flux::simulated_peer;
using network::for_seeds;
using network::habits;
using network::seen;
using network::simulated_run;
using network::socket_peer;

constexpr std::size_t client_count = 4;

/// What each client has seen.
using all_seen = std::array<seen, client_count>;

std::string name_of(std::size_t client)
{
    return "client" + std::to_string(client);
}

/// All clients do this, which is called with a client, its habits, its number, and what it sees.
template <class Script>
void add_clients(simulated_run &run, all_seen &all, Script script)
{
    for (std::size_t number = 0; number < client_count; ++number) {
        run.world.add(name_of(number), [number, script, &own = all[number]](simulated_peer &self) {
            script(self, habits{[&self](std::uint64_t bound) { return self.draw(bound); }}, number, own);
        });
    }
}

/// A connection ends early only where it breaks, or a flow has failed.
void expect_failures_for(const all_seen &all, const flux::source_counts &counts)
{
    const auto cut_short = static_cast<std::uint64_t>(std::ranges::count_if(all, &seen::cut_short));
    EXPECT_LE(cut_short, counts.finished[flux::index_of(outcome::failed)] + counts.cancelled);
}

std::string run_echo(std::uint64_t seed, const simulated_faults &faults)
{
    simulated_run run(seed, faults);
    all_seen all;
    network::first = seed % 2 == 0 ? flux::first_given::with_input : flux::first_given::at_once;
    network::serve = network::echo;
    add_clients(run, all, [](simulated_peer &self, const habits &by, std::size_t, seen &own) {
        talk(self, by, network::unchanged, own);
    });
    run.run();
    EXPECT_LE(run.counts.started, client_count);
    expect_failures_for(all, run.counts);
    return run.trace;
}

TEST(Simulation, Echo)
{
    for_seeds(200, [](std::uint64_t seed) { return run_echo(seed, flux::faults_of(seed)); });
}

TEST(Simulation, OneSeedIsOneRun)
{
    std::set<std::string> traces;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const std::string once = run_echo(seed, flux::faults_of(seed));
        const std::string twice = run_echo(seed, flux::faults_of(seed));
        const auto differ = std::ranges::mismatch(once, twice);
        EXPECT_TRUE(once == twice) << "seed " << seed << ", the same up to\n" << std::string(once.begin(), differ.in1);
        traces.insert(once);
    }
    EXPECT_EQ(traces.size(), 40u);
}

TEST(Simulation, AConnectionThatBreaksAtAnyStep)
{
    for (std::uint64_t step = 1; step <= 60; ++step) {
        simulated_faults faults;
        faults.reset_at_step = step;
        run_echo(2, faults);
        EXPECT_FALSE(HasFailure()) << "at step " << step;
    }
}

TEST(Simulation, AnyAllocationFails)
{
    bool all_have_failed = false;
    for (int number = 1; !all_have_failed; ++number) {
        fails_after = number;
        simulated_run run(3, simulated_faults());
        all_seen all;
        network::first = flux::first_given::with_input;
        network::serve = network::echo;
        add_clients(run, all, [](simulated_peer &self, const habits &by, std::size_t, seen &own) {
            talk(self, by, network::unchanged, own);
        });
        run.run();
        all_have_failed = fails_after != 0;
        fails_after = 0;
        // Where there is no memory for the connection its client is sent away.
        EXPECT_LE(std::ranges::count_if(all, &seen::cut_short), all_have_failed ? 0 : 1) << "allocation " << number;
        ASSERT_LT(number, 100);
    }
}

TEST(Simulation, RequestsAreAnsweredOnceAndInOrder)
{
    std::uint64_t answers = 0;
    const std::uint64_t seeds = for_seeds(200, [&](std::uint64_t seed) {
        simulated_run run(seed, flux::faults_of(seed));
        all_seen all;
        network::answering answering(std::chrono::milliseconds(seed % 4), 40ms);
        network::first = flux::first_given::with_input;
        network::serve = std::ref(answering);
        // Answers to requests that come at once need room while the client sends still.
        const std::size_t at_once = run.faults.small_windows == 0 ? 3 : 1;
        add_clients(run, all, [at_once](simulated_peer &self, const habits &by, std::size_t number, seen &own) {
            ask(self, by, name_of(number), at_once, own);
        });
        run.run();
        for (const auto &[request, times] : answering.answered) {
            EXPECT_EQ(times, 1) << request;
        }
        for (const seen &each : all) {
            for (const auto &[request, times] : each.answers) {
                EXPECT_EQ(answering.answered[request], 1) << request;
            }
            answers += each.answers.size();
        }
        expect_failures_for(all, run.counts);
        return run.trace;
    });
    EXPECT_TRUE(answers > 3 * seeds || seeds < 100) << answers;
}

TEST(Simulation, BranchesRelayBothWaysAtOnce)
{
    for_seeds(200, [](std::uint64_t seed) {
        simulated_run run(seed, flux::faults_of(seed));
        all_seen all;
        network::first = flux::first_given::at_once;
        network::serve = network::relay;
        network::upstream_at = flux::loopback_address(9);
        run.world.add("upstream", [](simulated_peer &self) {
            EXPECT_EQ(self.listen(network::upstream_at), 0);
            network::serve_upstream(self);
        });
        add_clients(run, all, [](simulated_peer &self, const habits &by, std::size_t, seen &own) {
            talk(self, by, network::upper_case, own);
        });
        run.run("upstream waits for somebody to accept\n");
        expect_failures_for(all, run.counts);
        return run.trace;
    });
}

TEST(Simulation, AServerThatEndsInTheMiddleLeavesNobodyWaiting)
{
    std::uint64_t cancelled = 0;
    const std::uint64_t seeds = for_seeds(200, [&](std::uint64_t seed) {
        simulated_run run(seed, flux::faults_of(seed));
        all_seen all;
        network::answering answering(3ms, 1h);
        network::first = flux::first_given::at_once;
        network::serve = std::ref(answering);
        add_clients(run, all, [](simulated_peer &self, const habits &by, std::size_t number, seen &own) {
            ask(self, by, name_of(number), 1, own);
        });
        run.world.add("operator", [&run](simulated_peer &self) {
            self.wait(std::chrono::microseconds(self.draw(60'000)));
            run.server->stop();
            self.wait(std::chrono::milliseconds(self.draw(10)));
            run.server->cancel();
            self.wait(1s);
            // Who has not been accepted is sent away, as by the kernel when the process is gone.
            network::connected = nullptr;
            network::listening = nullptr;
        });
        run.run();
        cancelled += run.counts.cancelled;
        return run.trace;
    });
    EXPECT_TRUE(cancelled > seeds / 8 || seeds < 100) << cancelled;
}

TEST(Simulation, MessagesThatAreLostAreSentAgain)
{
    std::uint64_t messages = 0;
    const std::uint64_t seeds = for_seeds(100, [&](std::uint64_t seed) {
        simulated_run run(seed, flux::faults_of(seed));
        all_seen all;
        network::first = flux::first_given::with_input;
        network::serve = network::look_up;
        network::answers_at = flux::loopback_address(53);
        run.world.add("answers", [&](simulated_peer &self) {
            EXPECT_EQ(self.bind(network::answers_at), 0);
            while (const auto question = self.receive_message(1min)) {
                self.send_message(question->second, network::upper_case(question->first));
                ++messages;
            }
        });
        add_clients(run, all, [](simulated_peer &self, const habits &by, std::size_t, seen &own) {
            talk(self, by, network::upper_case, own);
        });
        run.run();
        expect_failures_for(all, run.counts);
        return run.trace;
    });
    EXPECT_TRUE(messages > 10 * seeds || seeds < 10) << messages;
}

/// Waits for a request and works on it, until the flow's deadline.
class hasty
{
  public:
    static constexpr std::chrono::milliseconds time{10};

    int operator()(flux::flow &flow, flux::connection &client)
    {
        const flux::moment deadline = flux::running_io().now() + time;
        flow.set_deadline(deadline);
        std::string request;
        int error = network::receive_some(client, request);
        if (error == 0 && !request.empty()) {
            error = flux::sleep_for(std::chrono::milliseconds(request[0] - '0'));
            error = error != 0 ? error : flux::take(client.send("done"));
            (error == 0 ? answered : late) += 1;
        }
        // A flow that waits is told of its deadline when it comes, but for a tick and what others do then.
        EXPECT_LT(flux::running_io().now(), deadline + 3ms);
        client.close();
        return error;
    }

    std::uint64_t answered = 0;
    std::uint64_t late = 0;
};

TEST(Simulation, ADeadlineAndAnAnswerOfOneInstantAreNeverBoth)
{
    hasty all;
    std::uint64_t received = 0;
    const std::uint64_t seeds = for_seeds(200, [&](std::uint64_t seed) {
        simulated_run run(seed, flux::faults_of(seed));
        network::first = flux::first_given::at_once;
        network::serve = std::ref(all);
        all_seen nothing;
        add_clients(run, nothing, [&](simulated_peer &self, const habits &, std::size_t, seen &) {
            if (self.connect(network::served_at) == 0) {
                self.wait(std::chrono::milliseconds(self.draw(10)));
                const char digit = static_cast<char>('0' + self.draw(10));
                self.send({&digit, 1});
                const std::string answer = self.receive_all();
                EXPECT_TRUE(std::string_view("done").starts_with(answer)) << answer;
                received += answer == "done" ? 1 : 0;
            }
        });
        run.run();
        EXPECT_LE(received, all.answered);
        return run.trace;
    });
    EXPECT_TRUE((all.answered > seeds / 2 && all.late > seeds / 2) || seeds < 100) << all.answered << ", " << all.late;
}

/// What came of a run: what each client got, and what became of the flows.
struct replies_and_counts {
    std::vector<std::string> replies;
    flux::source_counts counts;
};

replies_and_counts result_of(const all_seen &all, const flux::source_counts &counts)
{
    replies_and_counts result{{}, counts};
    std::ranges::transform(all, std::back_inserter(result.replies), &seen::replies);
    return result;
}

/// A client that does the same whatever it is made of: its dice are its own.
habits habits_of(std::size_t client)
{
    const auto dice = std::make_shared<flux::simulated_time>(client);
    return {[dice](std::uint64_t bound) { return dice->draw(bound); }, false};
}

/// The same script for clients of any kind, at the server of `network::serve`.
template <class Peer>
using client_script = void (*)(Peer &self, std::size_t client, seen &own);

replies_and_counts run_simulated(std::uint64_t seed, client_script<simulated_peer> script)
{
    simulated_faults faults;
    faults.short_transfers = 500;
    faults.false_wakes = 100;
    simulated_run run(seed, faults);
    all_seen all;
    network::upstream_at = flux::loopback_address(9);
    run.world.add("upstream", [](simulated_peer &self) {
        EXPECT_EQ(self.listen(network::upstream_at), 0);
        network::serve_upstream(self);
    });
    add_clients(run, all, [script](simulated_peer &self, const habits &, std::size_t number, seen &own) {
        self.wait(5ms); // upstream listens by then
        script(self, number, own);
    });
    run.run("upstream waits for somebody to accept\n");
    return result_of(all, run.counts);
}

replies_and_counts run_over_sockets(client_script<socket_peer> script)
{
    all_seen all;
    socket_peer upstream;
    EXPECT_EQ(upstream.listen(flux::loopback_address(0)), 0);
    network::upstream_at = upstream.local();
    std::thread behind([&upstream] { network::serve_upstream(upstream); });
    network::served_at = flux::loopback_address(0);
    network::running_server server(flux::make_reactor);
    while (!network::listens) {
        std::this_thread::sleep_for(1ms);
    }
    std::vector<std::thread> clients;
    for (std::size_t number = 0; number < client_count; ++number) {
        clients.emplace_back([&own = all[number], number, script] {
            socket_peer self;
            script(self, number, own);
        });
    }
    for (std::thread &each : clients) {
        each.join();
    }
    const flux::source_counts counts = server.end();
    upstream.end_listening();
    behind.join();
    return result_of(all, counts);
}

/// Both give the same replies, and take the same paths as often.
void expect_twins(client_script<simulated_peer> simulated, client_script<socket_peer> on_sockets)
{
    const replies_and_counts real = run_over_sockets(on_sockets);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const replies_and_counts twin = run_simulated(seed, simulated);
        EXPECT_EQ(twin.replies, real.replies) << "seed " << seed;
        EXPECT_EQ(twin.counts.finished, real.counts.finished) << "seed " << seed;
        EXPECT_EQ(twin.counts.counted.calls, real.counts.counted.calls) << "seed " << seed;
    }
    EXPECT_FALSE(std::ranges::all_of(real.replies, &std::string::empty));
}

template <class Peer>
void talk_plainly(Peer &self, std::size_t client, seen &own)
{
    talk(self, habits_of(client), network::unchanged, own);
}

template <class Peer>
void talk_to_upstream(Peer &self, std::size_t client, seen &own)
{
    talk(self, habits_of(client), network::upper_case, own);
}

template <class Peer>
void ask_in_turn(Peer &self, std::size_t client, seen &own)
{
    ask(self, habits_of(client), name_of(client), 3, own);
}

TEST(Simulation, AgreesWithTheReactorOnAnEcho)
{
    network::first = flux::first_given::with_input;
    network::serve = network::echo;
    expect_twins(talk_plainly<simulated_peer>, talk_plainly<socket_peer>);
}

TEST(Simulation, AgreesWithTheReactorOnRequestsThatStayConnected)
{
    network::answering answering(1ms, 1h);
    network::first = flux::first_given::with_input;
    network::serve = std::ref(answering);
    expect_twins(ask_in_turn<simulated_peer>, ask_in_turn<socket_peer>);
}

TEST(Simulation, AgreesWithTheReactorOnParallelSteps)
{
    network::first = flux::first_given::at_once;
    network::serve = network::relay;
    expect_twins(talk_to_upstream<simulated_peer>, talk_to_upstream<socket_peer>);
}

} // namespace
