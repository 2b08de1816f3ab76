#include "flux/simulation/simulation.hpp"

#include "flux/reading.hpp"
#include "../support/network_sockets.hpp"
#include "../support/simulated_run.hpp"
#include "../support/patience.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using flux::outcome;
using flux::simulated_faults;
using flux::simulated_peer;
using network::all_seen;
using network::client_count;
using network::client_script;
using network::for_seeds;
using network::habits;
using network::habits_of;
using network::name_of;
using network::replies_and_counts;
using network::seen;
using network::simulated_run;
using network::socket_peer;

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

/// What is behind the relay.
void add_upstream(simulated_run &run)
{
    network::upstream_at = flux::loopback_address(9);
    run.world.add("upstream", [](simulated_peer &self) {
        EXPECT_EQ(self.listen(network::upstream_at), 0);
        network::serve_upstream(self);
    });
}

/// A connection ends early only where it breaks, or a flow has failed, or there was no memory for it.
void expect_failures_for(const all_seen &all, const simulated_run &run)
{
    const auto cut_short = static_cast<std::uint64_t>(std::ranges::count_if(all, &seen::cut_short));
    const std::uint64_t failed = run.counts.finished[flux::index_of(outcome::failed)];
    EXPECT_LE(cut_short, failed + run.counts.cancelled + run.failed_allocations);
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
    expect_failures_for(all, run);
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

/// Lets each allocation of `test(faults)`, which gives its run, fail in turn: at most one client is the worse for it.
template <class Test>
void fail_each_allocation(Test test)
{
    std::uint64_t number = 1;
    simulated_faults faults;
    for (bool one_has_failed = true; one_has_failed && !testing::Test::HasFailure(); ++number) {
        faults.allocation_that_fails = number;
        all_seen all;
        simulated_run run(3, faults);
        test(run, all);
        one_has_failed = run.failed_allocations != 0;
        EXPECT_LE(std::ranges::count_if(all, &seen::cut_short), one_has_failed ? 1 : 0) << "allocation " << number;
    }
    EXPECT_GT(number, 20u);
}

TEST(Simulation, AnyAllocationOfAnEchoFails)
{
    network::first = flux::first_given::with_input;
    network::serve = network::echo;
    fail_each_allocation([](simulated_run &run, all_seen &all) {
        add_clients(run, all, [](simulated_peer &self, const habits &by, std::size_t, seen &own) {
            talk(self, by, network::unchanged, own);
        });
        run.run();
    });
}

TEST(Simulation, AnyAllocationForRequestsThatStayConnectedFails)
{
    network::first = flux::first_given::with_input;
    fail_each_allocation([](simulated_run &run, all_seen &all) {
        network::answering answering(1ms, 1h);
        network::serve = std::ref(answering);
        add_clients(run, all, [](simulated_peer &self, const habits &by, std::size_t number, seen &own) {
            ask(self, by, name_of(number), 3, own);
        });
        run.run();
    });
}

TEST(Simulation, AnyAllocationOfParallelStepsFails)
{
    network::first = flux::first_given::at_once;
    network::serve = network::relay;
    fail_each_allocation([](simulated_run &run, all_seen &all) {
        add_upstream(run);
        add_clients(run, all, [](simulated_peer &self, const habits &by, std::size_t, seen &own) {
            self.wait(5ms); // upstream listens by then
            talk(self, by, network::upper_case, own);
        });
        run.run();
    });
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
        expect_failures_for(all, run);
        return run.trace;
    });
    EXPECT_TRUE(answers > 3 * seeds || seeds < 100) << answers;
}

std::string run_messages(std::uint64_t seed, const simulated_faults &faults)
{
    simulated_run run(seed, faults);
    all_seen all;
    network::serve_messages();
    const std::size_t at_once = run.faults.small_windows == 0 ? 4 : 1;
    add_clients(run, all, [at_once](simulated_peer &self, const habits &by, std::size_t, seen &own) {
        send_messages(self, by, at_once, own);
    });
    run.run();
    expect_failures_for(all, run);
    return run.trace;
}

TEST(Simulation, MessagesAreAnsweredInOrder)
{
    for_seeds(200, [](std::uint64_t seed) { return run_messages(seed, flux::faults_of(seed)); });
}

TEST(Simulation, AConnectionThatBreaksAtAnyStepOfAMessage)
{
    for (std::uint64_t step = 1; step <= 60; ++step) {
        simulated_faults faults;
        faults.reset_at_step = step;
        run_messages(2, faults);
        EXPECT_FALSE(HasFailure()) << "at step " << step;
    }
}

TEST(Simulation, AnyAllocationForMessagesFails)
{
    fail_each_allocation([](simulated_run &run, all_seen &all) {
        network::serve_messages();
        add_clients(run, all, [](simulated_peer &self, const habits &by, std::size_t, seen &own) {
            send_messages(self, by, 2, own);
        });
        run.run();
    });
}

TEST(Simulation, BranchesRelayBothWaysAtOnce)
{
    for_seeds(200, [](std::uint64_t seed) {
        simulated_run run(seed, flux::faults_of(seed));
        all_seen all;
        network::first = flux::first_given::at_once;
        network::serve = network::relay;
        add_upstream(run);
        add_clients(run, all, [](simulated_peer &self, const habits &by, std::size_t, seen &own) {
            talk(self, by, network::upper_case, own);
        });
        run.run();
        expect_failures_for(all, run);
        return run.trace;
    });
}

TEST(Simulation, AServerThatEndsInTheMiddleLeavesNobodyWaiting)
{
    std::uint64_t cancelled = 0;
    const std::uint64_t seeds = for_seeds(200, [&](std::uint64_t seed) {
        // A source that does not wait just then, as it rests after a failure, does not learn that it ends.
        simulated_faults faults = flux::faults_of(seed);
        faults.failed_allocations = 0;
        simulated_run run(seed, faults);
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
            network::listeners.clear();
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
        expect_failures_for(all, run);
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

/// Talks a while and then is silent, until the end: how long that took.
std::chrono::nanoseconds await_end(simulated_peer &self)
{
    const flux::moment silent_since = self.now();
    EXPECT_EQ(self.receive_all(), "");
    EXPECT_FALSE(self.broken());
    return self.now() - silent_since;
}

/// Connections are looked at in quarters of the shorter limit.
constexpr std::chrono::milliseconds look_period = std::chrono::milliseconds(network::first_byte_limit) / 4;
constexpr std::chrono::milliseconds longest_idle = network::idle_limit + look_period;

void expect_answer(simulated_peer &self, const std::string &request)
{
    EXPECT_EQ(self.send(request + '\n'), 0);
    EXPECT_EQ(self.receive_exactly(request.size() + 1), network::upper_case(request) + '\n');
}

TEST(Simulation, WhoIsSilentForTheLimitIsClosedAndWhoTalksStays)
{
    for_seeds(100, [](std::uint64_t seed) {
        simulated_faults faults;
        faults.short_transfers = 500;
        simulated_run run(seed, faults);
        network::answering answering(1ms, 1h);
        network::first = flux::first_given::with_input;
        network::serve = std::ref(answering);
        // What is on its way takes a few milliseconds of simulated time.
        const auto expect_limit = [](std::chrono::seconds limit, std::chrono::nanoseconds time) {
            EXPECT_GT(time, limit - 20ms);
            EXPECT_LT(time, limit + look_period + 20ms);
        };
        run.world.add("silent", [=](simulated_peer &self) {
            EXPECT_EQ(self.connect(network::served_at), 0);
            expect_limit(network::first_byte_limit, await_end(self));
        });
        run.world.add("silent after an answer", [=](simulated_peer &self) {
            self.wait(std::chrono::microseconds(self.draw(10'000'000)));
            EXPECT_EQ(self.connect(network::served_at), 0);
            self.wait(network::first_byte_limit * 2 / 3);
            expect_answer(self, "one");
            expect_limit(network::idle_limit, await_end(self));
        });
        run.world.add("talker", [](simulated_peer &self) {
            EXPECT_EQ(self.connect(network::served_at), 0);
            for (int round = 0; round < 6; ++round) {
                self.wait((round == 0 ? network::first_byte_limit : network::idle_limit) * 2 / 3);
                expect_answer(self, "request " + std::to_string(round));
            }
            self.end_output();
            EXPECT_EQ(self.receive_all(), "");
        });
        run.run();
        return run.trace;
    });
}

TEST(Simulation, WhoSendsAMessageSlowlyIsClosedAtTheLimit)
{
    for_seeds(50, [](std::uint64_t seed) {
        simulated_run run(seed, {});
        network::serve_messages();
        run.world.add("slow", [](simulated_peer &self) {
            EXPECT_EQ(self.connect(network::served_at), 0);
            const auto begin = self.now();
            // Never silent for long.
            std::string sent = sized::wire(std::string(100, 'x'));
            while (!sent.empty() && self.send(sent.substr(0, 1)) == 0) {
                sent.erase(0, 1);
                self.wait(500ms);
            }
            EXPECT_GT(self.now() - begin, network::message_limit - 20ms);
            EXPECT_LT(self.now() - begin, network::message_limit + look_period + 1s);
        });
        run.world.add("slow but not too slow", [](simulated_peer &self) {
            EXPECT_EQ(self.connect(network::served_at), 0);
            for (int round = 0; round < 5; ++round) {
                for (const char byte : sized::wire("x")) {
                    EXPECT_EQ(self.send({&byte, 1}), 0);
                    self.wait(network::message_limit / 8);
                }
                EXPECT_EQ(self.receive_exactly(6), sized::wire("X"));
            }
            self.end_output();
            EXPECT_EQ(self.receive_all(), "");
        });
        run.run();
        EXPECT_EQ(run.counts.started, 5u);
        return run.trace;
    });
}

TEST(Simulation, ARequestOfTheInstantInWhichItsConnectionIsClosedIsAnsweredOrNot)
{
    std::uint64_t answered = 0;
    std::uint64_t closed = 0;
    const std::uint64_t seeds = for_seeds(200, [&](std::uint64_t seed) {
        simulated_faults faults;
        faults.longest_delay = 0us;
        simulated_run run(seed, faults);
        network::answering answering(0ms, 1h);
        network::first = flux::first_given::with_input;
        network::serve = std::ref(answering);
        for (std::size_t number = 0; number < client_count; ++number) {
            run.world.add(name_of(number), [&, number](simulated_peer &self) {
                EXPECT_EQ(self.connect(network::served_at), 0);
                expect_answer(self, "first of " + name_of(number));
                self.wait(longest_idle - std::chrono::milliseconds(self.draw(2)));
                const std::string last = "last of " + name_of(number);
                const bool sent = self.send(last + '\n') == 0;
                const std::string answer = sent ? self.receive_exactly(last.size() + 1) : "";
                EXPECT_TRUE(answer.empty() || answer == network::upper_case(last) + '\n') << answer;
                EXPECT_EQ(answering.answered.contains(last), !answer.empty());
                (answer.empty() ? closed : answered) += 1;
            });
        }
        run.run();
        return run.trace;
    });
    EXPECT_TRUE((answered > seeds / 2 && closed > seeds / 2) || seeds < 100) << answered << ", " << closed;
}

/// A program whose source has three instances on the one loop, which gather from one listener as those of several loops
/// do; each flow is of a group.
namespace gathering {

constexpr std::size_t group_size = 3;

struct Gather_out {
    std::vector<flux::connection *> group;
};

/// The peers of each whole group, the first of them and the last.
std::vector<std::pair<unsigned, unsigned>> groups;
/// What gathers, and how often something gave its group up.
std::vector<flux::flow *> gatherers;
std::size_t given_up = 0;

class gatherer
{
  public:
    gatherer() { gatherers.push_back(flux::running_flow); }
    gatherer(const gatherer &) = delete;
    gatherer &operator=(const gatherer &) = delete;
    ~gatherer() { std::erase(gatherers, flux::running_flow); }
};

int gather(Gather_out &out)
{
    flux::source &by = flux::running_flow->from();
    std::shared_ptr<flux::connections> &all = by.state<std::shared_ptr<flux::connections>>();
    if (all == nullptr) {
        std::unique_ptr<flux::listener> &listening = network::listeners[flux::server_io::current().get()];
        if (listening == nullptr) {
            auto made = flux::running_io().listen(network::served_at);
            if (!made.has_value()) {
                return made.error();
            }
            listening = *std::move(made);
        }
        const auto opened = std::make_shared<flux::connections>(flux::running_io(), *listening,
                                                                flux::first_given::at_once, network::limits);
        by.when_stopped([opened] { opened->end(); });
        all = opened;
    }
    const gatherer own;
    return flux::take(all->next_group(group_size, out.group));
}

flux::outcome Gather(flux::flow &flow, Gather_out &out)
{
    flow.call(network::node_Listen);
    int error = 0;
    try {
        error = gather(out);
    } catch (...) {
        error = flow.caught();
    }
    given_up += error != 0 && !out.group.empty() ? 1 : 0;
    if (error != 0) {
        flow.failed_in(network::node_Listen, error);
        return flow.failed();
    }
    return flow.done();
}

void serve(const std::vector<flux::connection *> &group)
{
    EXPECT_EQ(group.size(), group_size);
    const auto [first, last] = std::ranges::minmax(
        group, {}, [](const flux::connection *each) { return each->peer().port(); });
    groups.emplace_back(first->peer().port(), last->peer().port());
    for (flux::connection *const each : group) {
        static_cast<void>(flux::read_exactly(*each, 1, flux::running_io().now() + 1min));
        static_cast<void>(each->close());
    }
}

flux::outcome Serve(flux::flow &flow, Gather_out &values)
{
    flow.call(network::node_Serve);
    try {
        serve(values.group);
    } catch (...) {
        flow.failed_in(network::node_Serve, flow.caught());
        return flow.failed();
    }
    return flow.done();
}

constexpr auto one =
    flux::make_replicable_source<Gather, Serve>({"Listen", "network.flux", 5}, network::function_Listen,
                                                network::function_Main);
constexpr flux::source_info three[] = {one, one, one};
constexpr flux::program program{"gathering",
                                network::nodes,
                                network::constraints,
                                three,
                                network::path_functions,
                                network::path_vertices,
                                network::path_edges};

/// Gives its trace.
std::string run(std::uint64_t seed, const simulated_faults &faults, std::size_t clients)
{
    groups.clear();
    gatherers.clear();
    given_up = 0;
    network::served_at = flux::loopback_address(80);
    auto made = std::make_unique<flux::simulation>(seed, faults);
    flux::simulation &world = *made;
    for (std::size_t number = 0; number < clients; ++number) {
        world.add(name_of(number), [](simulated_peer &self) {
            self.wait(std::chrono::milliseconds(self.draw(30)));
            if (self.connect(network::served_at) == 0) {
                self.wait(std::chrono::milliseconds(self.draw(5)));
                self.send("x");
                self.wait(std::chrono::milliseconds(self.draw(50)));
            }
        });
    }
    // Some give up in the middle, where something goes wrong at all.
    if (faults != simulated_faults()) {
        world.add("fate", [](simulated_peer &self) {
            for (int times = 0; times < 20; ++times) {
                self.wait(std::chrono::milliseconds(self.draw(5)));
                if (!gatherers.empty()) {
                    gatherers[self.draw(gatherers.size())]->cancel();
                }
            }
        });
    }
    flux::runners all{program};
    const auto strategy = flux::make_event_strategy(
        all, program, 1, [&] { return std::unique_ptr<flux::loop_io>(std::move(made)); });
    flux::sources sources(program, {.most = 64}, *strategy, all);
    sources.start();
    world.begin(10min);
    world.await_idle();
    EXPECT_EQ(world.unfinished_peers(), "");
    sources.stop();
    world.go_on();
    EXPECT_EQ(world.open_streams(), 0u);
    const std::string trace = world.trace();
    await([&] {
        sources.stop();
        return sources.ended() && all.flows_in_progress() == 0;
    });
    sources.join();
    strategy->finish();
    network::listeners.clear();
    return trace;
}

} // namespace gathering

/// Between the first of a group and its last nobody is of another, whatever goes wrong.
TEST(Simulation, WhoGathersIsAlone)
{
    std::size_t whole = 0;
    std::size_t given_up = 0;
    const std::uint64_t seeds = for_seeds(200, [&](std::uint64_t seed) {
        const simulated_faults faults = flux::faults_of(seed);
        const std::size_t clients = gathering::group_size * (1 + seed % 7);
        const std::string trace = gathering::run(seed, faults, clients);
        auto &groups = gathering::groups;
        std::ranges::sort(groups);
        for (std::size_t each = 1; each < groups.size(); ++each) {
            EXPECT_LT(groups[each - 1].second, groups[each].first);
        }
        if (faults == simulated_faults()) {
            EXPECT_EQ(groups.size(), clients / gathering::group_size);
        }
        whole += groups.size();
        given_up += gathering::given_up;
        return trace;
    });
    EXPECT_TRUE((whole > seeds && given_up > seeds / 4) || seeds < 100) << whole << ", " << given_up;
}

replies_and_counts run_simulated(std::uint64_t seed, client_script<simulated_peer> script)
{
    simulated_faults faults;
    faults.short_transfers = 500;
    faults.false_wakes = 100;
    simulated_run run(seed, faults);
    all_seen all;
    add_upstream(run);
    add_clients(run, all, [script](simulated_peer &self, const habits &, std::size_t number, seen &own) {
        self.wait(5ms); // upstream listens by then
        script(self, number, own);
    });
    run.run();
    return network::result_of(all, run.counts);
}

/// All of them give the same replies, and take the same paths as often.
void expect_twins(client_script<simulated_peer> simulated, client_script<socket_peer> on_sockets)
{
    const replies_and_counts twin = run_simulated(0, simulated);
    const auto expect_same = [&twin](const replies_and_counts &other, const std::string &name) {
        EXPECT_EQ(other.replies, twin.replies) << name;
        EXPECT_EQ(other.counts.finished, twin.counts.finished) << name;
        EXPECT_EQ(other.counts.counted.calls, twin.counts.counted.calls) << name;
    };
    for (std::uint64_t seed = 1; seed < 20; ++seed) {
        expect_same(run_simulated(seed, simulated), "seed " + std::to_string(seed));
    }
    for (const network::way &way : network::all_ways()) {
        expect_same(network::run_over_sockets(way, on_sockets), way.name);
    }
    EXPECT_FALSE(std::ranges::all_of(twin.replies, &std::string::empty));
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

TEST(Simulation, AgreesWithAllThatIsRealOnAnEcho)
{
    network::first = flux::first_given::with_input;
    network::serve = network::echo;
    expect_twins(talk_plainly<simulated_peer>, talk_plainly<socket_peer>);
}

TEST(Simulation, AgreesWithAllThatIsRealOnRequestsThatStayConnected)
{
    network::answering answering(1ms, 1h);
    network::first = flux::first_given::with_input;
    network::serve = std::ref(answering);
    expect_twins(ask_in_turn<simulated_peer>, ask_in_turn<socket_peer>);
}

TEST(Simulation, AgreesWithAllThatIsRealOnParallelSteps)
{
    network::first = flux::first_given::at_once;
    network::serve = network::relay;
    expect_twins(talk_to_upstream<simulated_peer>, talk_to_upstream<socket_peer>);
}

} // namespace
