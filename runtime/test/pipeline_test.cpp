#include "flux/pipeline.hpp"

#include "support/network_scripts.hpp"
#include "support/network_sockets.hpp"
#include "support/simulated_run.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <random>
#include <string>

namespace {

using namespace std::chrono_literals;
using flux::simulated_faults;
using flux::simulated_peer;
using network::for_seeds;
using network::simulated_run;

constexpr std::uint64_t clients = 12;
constexpr std::uint64_t servers = 5;

flux::address server_at(std::uint64_t number)
{
    return flux::loopback_address(static_cast<std::uint16_t>(1000 + number));
}

/// A run: clients whose questions are forwarded over shared connections to servers that answer in upper case, and that
/// may do worse.
class shared_lines
{
  public:
    explicit shared_lines(std::uint64_t seed) : dice_(static_cast<unsigned>(seed)) {}

    /// Whether servers may hang, break off and say what is no message, and how long flows have; 0 for no limit.
    bool servers_are_mean = false;
    std::chrono::milliseconds longest{0};
    /// What came of it.
    std::uint64_t answered = 0;
    std::uint64_t given_up = 0;
    std::uint64_t most_users = 0;

    void add_to(simulated_run &run)
    {
        network_ = &run.world.network();
        network::first = flux::first_given::with_input;
        network::begin_message = [] { return std::make_unique<sized::parse>(); };
        network::serve_message = [this](flux::flow &flow, flux::connection &client, const flux::message &asked) {
            return forward(flow, client, asked);
        };
        for (std::uint64_t number = 0; number < servers; ++number) {
            run.world.add("server" + std::to_string(number), [this, number](simulated_peer &self) {
                EXPECT_EQ(self.listen(server_at(number)), 0);
                while (true) {
                    self.accept();
                    answer(self);
                    self.close();
                }
            });
        }
        for (std::uint64_t number = 0; number < clients; ++number) {
            run.world.add(network::name_of(number), [this, number](simulated_peer &self) { ask(self, number); });
        }
    }

    /// What holds at the end of each run.
    void expect_right() const
    {
        EXPECT_EQ(current_, nullptr);
        for (const auto &[text, times] : seen_) {
            EXPECT_EQ(times, 1) << text;
        }
        for (const std::string &text : not_sent_) {
            EXPECT_FALSE(seen_.contains(text)) << text;
        }
    }

  private:
    struct shared {
        explicit shared(flux::connection &on) : over(on), line(on) {}
        flux::connection &over;
        flux::pipeline line;
        std::uint64_t users = 0;
    };

    std::uint64_t draw(std::uint64_t bound) { return dice_() % bound; }

    int forward(flux::flow &flow, flux::connection &client, const flux::message &asked)
    {
        if (longest != 0ms && draw(3) == 0) {
            flow.set_deadline(flux::running_io().now() + std::chrono::microseconds(draw(1000 * longest.count())));
        }
        const std::string text(sized::text_of(asked.wire()));
        std::string reply;
        int error = exchange(text, asked, reply);
        if (error == 0) {
            EXPECT_EQ(reply, sized::wire(network::upper_case(text)));
            error = flux::take(client.send(reply));
        } else {
            given_up += error == ETIMEDOUT ? 1 : 0;
        }
        error == 0 ? client.give_back() : client.close();
        return error;
    }

    int exchange(const std::string &text, const flux::message &asked, std::string &answer)
    {
        std::shared_ptr<shared> by = current_;
        if (by == nullptr || !by->line.takes_more()) {
            const flux::io_result<flux::connection *> made = flux::connect(server_at(draw(servers)));
            if (!made.has_value()) {
                return made.error();
            }
            by = std::make_shared<shared>(**made);
            by->over.detach();
            current_ = by;
        }
        most_users = std::max(most_users, ++by->users);
        flux::pipeline::result came{ENOMEM, false};
        std::unique_ptr<flux::message_parse> reply;
        try {
            reply = std::make_unique<sized::parse>();
            came = by->line.exchange(asked, reply);
        } catch (const std::bad_alloc &) {
        }
        const flux::simulated_work noting(*network_);
        if (came.error == 0) {
            answer = flux::message(std::move(reply->bytes)).wire();
        } else if (!came.was_sent) {
            not_sent_.push_back(text);
        }
        if (--by->users == 0) {
            current_ = current_ == by ? nullptr : current_;
            EXPECT_TRUE(by->over.attach().has_value());
            by->over.close();
        }
        return came.error;
    }

    void answer(simulated_peer &self)
    {
        while (true) {
            const std::string head = self.receive_exactly(sized::head_size);
            if (head.size() < sized::head_size) {
                return;
            }
            const auto size = static_cast<std::size_t>(static_cast<unsigned char>(head[3])) * 256 +
                              static_cast<unsigned char>(head[4]);
            const std::string text = self.receive_exactly(size);
            if (text.size() < size) {
                return;
            }
            seen_[text] += 1;
            const std::string reply = sized::wire(network::upper_case(text));
            switch (servers_are_mean ? self.draw(40) : 40) {
            case 0:
                return;
            case 1:
                self.send("?");
                break;
            case 2:
                self.send(reply.substr(0, self.draw(reply.size())));
                return;
            case 3:
                self.send(reply.substr(0, self.draw(reply.size())));
                self.wait(std::chrono::milliseconds(self.draw(200)));
                return;
            case 4:
                self.reset();
                return;
            default:
                if (self.draw(4) == 0) {
                    self.wait(std::chrono::microseconds(self.draw(30'000)));
                }
                self.send(reply);
            }
        }
    }

    void ask(simulated_peer &self, std::uint64_t own)
    {
        self.wait(5ms); // the servers listen by then
        int number = 0;
        for (std::uint64_t round = 1 + self.draw(4); round != 0; --round) {
            if (self.connect(network::served_at) != 0) {
                return;
            }
            for (bool goes_on = true; goes_on && number < 20; goes_on = self.draw(6) != 0) {
                std::string text = network::name_of(own) + '-' + std::to_string(++number) + ' ';
                text += std::string(self.draw(2) * self.draw(400), 'x');
                if (self.send(sized::wire(text)) != 0) {
                    break;
                }
                const std::string expected = sized::wire(network::upper_case(text));
                const std::string came = self.receive_exactly(expected.size());
                EXPECT_TRUE(expected.starts_with(came)) << came;
                if (came != expected) {
                    break;
                }
                ++answered;
                if (self.draw(3) == 0) {
                    self.wait(std::chrono::microseconds(self.draw(5'000)));
                }
            }
            self.close();
        }
    }

    flux::simulated_network *network_ = nullptr;
    std::minstd_rand dice_;
    std::shared_ptr<shared> current_;
    std::map<std::string, int> seen_;
    std::vector<std::string> not_sent_;
};

TEST(Pipeline, EachFlowHasItsOwnReply)
{
    std::uint64_t most_users = 0;
    const std::uint64_t seeds = for_seeds(400, [&](std::uint64_t seed) {
        simulated_run run(seed, flux::faults_of(seed));
        shared_lines all(seed);
        all.add_to(run);
        run.run();
        all.expect_right();
        if (run.faults == simulated_faults()) {
            EXPECT_EQ(run.counts.finished[flux::index_of(flux::outcome::failed)], 0u);
        }
        most_users = std::max(most_users, all.most_users);
        return run.trace;
    });
    EXPECT_TRUE(most_users > clients / 2 || seeds < 100) << most_users;
}

TEST(Pipeline, FlowsThatGiveUpAndServersThatFailConcernNobodyElsesReply)
{
    std::uint64_t answered = 0;
    std::uint64_t given_up = 0;
    const std::uint64_t seeds = for_seeds(1000, [&](std::uint64_t seed) {
        simulated_run run(seed, flux::faults_of(seed));
        shared_lines all(seed);
        all.servers_are_mean = seed % 2 == 0;
        all.longest = std::chrono::milliseconds(seed % 3 == 0 ? 0 : 1 + seed % 50);
        all.add_to(run);
        run.run();
        all.expect_right();
        answered += all.answered;
        given_up += all.given_up;
        return run.trace;
    });
    EXPECT_TRUE((answered > 10 * seeds && given_up > seeds) || seeds < 100) << answered << ' ' << given_up;
}

TEST(Pipeline, AServerThatEndsInTheMiddleLeavesNobodyInTheLine)
{
    std::uint64_t cancelled = 0;
    const std::uint64_t seeds = for_seeds(200, [&](std::uint64_t seed) {
        // A source that does not wait just then, as it rests after a failure, does not learn that it ends.
        simulated_faults faults = flux::faults_of(seed);
        faults.failed_allocations = 0;
        simulated_run run(seed, faults);
        shared_lines all(seed);
        all.servers_are_mean = seed % 2 == 0;
        all.add_to(run);
        run.world.add("operator", [&run](simulated_peer &self) {
            self.wait(std::chrono::microseconds(5'000 + self.draw(40'000)));
            run.server->stop();
            run.server->cancel();
            self.wait(1s);
            // Who has not been accepted is sent away, as by the kernel when the process is gone.
            network::connected = nullptr;
            network::listeners.clear();
        });
        run.run();
        all.expect_right();
        cancelled += run.counts.cancelled;
        return run.trace;
    });
    EXPECT_TRUE(cancelled > seeds / 8 || seeds < 100) << cancelled;
}

} // namespace
