#include "flux/io.hpp"

#include "flux/io/connections.hpp"
#include "flux/io/accepting.hpp"
#include "flux/io/park.hpp"
#include "flux/sleep.hpp"
#include "support/io_peers.hpp"
#include "support/io_world.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/socket.h>

namespace {

using namespace std::chrono_literals;

template <class World>
class Io : public testing::Test
{
  protected:
    /// Runs one flow, and those that it starts, to their end.
    void run(std::function<void()> function)
    {
        world.start([&](flux::flow &) { function(); });
        world.run();
    }

    World world;
    flux::io &io = world.io();
};

struct name_of_world {
    template <class World>
    static std::string GetName(int)
    {
        return World().io().name();
    }
};

using worlds = testing::Types<blocking_world, reactor_world, proactor_world>;
TYPED_TEST_SUITE(Io, worlds, name_of_world);

TYPED_TEST(Io, SendsPartsInOrderAndReceivesThem)
{
    this->run([this] {
        connected both(this->io);
        char first[] = "one, ";
        char second[] = "two";
        iovec parts[] = {{first, 5}, {nullptr, 0}, {second, 3}};
        EXPECT_TRUE(both.near->send(parts).has_value());
        EXPECT_EQ(receive_all(*both.far, 8), "one, two");
        EXPECT_EQ(send(*both.far, "three"), 0);
        EXPECT_EQ(receive_all(*both.near, 5), "three");
        EXPECT_TRUE(both.near->send({}).has_value());
    });
}

TYPED_TEST(Io, WhatIsSentLaterGoesBeforeWhatIsSentNextOrAtTheEndOfATurn)
{
    this->run([this] {
        connected both(this->io);
        const auto later = [&](std::string text) {
            const iovec part{text.data(), text.size()};
            return both.near->send_later({&part, 1}) ? 0 : send(*both.near, text);
        };
        EXPECT_EQ(later("one, "), 0);
        EXPECT_EQ(later("two, "), 0);
        EXPECT_EQ(send(*both.near, "three"), 0);
        EXPECT_EQ(receive_all(*both.far, 15), "one, two, three");
        EXPECT_EQ(later("four"), 0);
        EXPECT_EQ(receive_all(*both.far, 4), "four") << "who waits lets it go out";
        EXPECT_EQ(later(std::string(10'000, 'a')), 0);
        EXPECT_EQ(later(std::string(10'000, 'b')), 0);
        EXPECT_EQ(receive_all(*both.far, 20'000), std::string(10'000, 'a') + std::string(10'000, 'b'));
        EXPECT_EQ(later("five"), 0);
        EXPECT_TRUE(both.near->flush().has_value());
        EXPECT_EQ(later("six"), 0);
        both.near->end_output();
        EXPECT_EQ(receive_all(*both.far, 7), "fivesix");
        std::array<std::byte, 1> end;
        EXPECT_EQ(*both.far->receive(end), 0u);
    });
}

TYPED_TEST(Io, WhatAPeerIsSlowToTakeGoesOutBehindAStreamThatIsGone)
{
    this->run([this] {
        connected both(this->io);
        EXPECT_EQ(send(*both.near, std::string(10'000, 'a')), 0);
        both.near.reset();
        EXPECT_EQ(receive_all(*both.far, 10'000), std::string(10'000, 'a'));
    });
}

TYPED_TEST(Io, CountsWhatAFlowWaitsFor)
{
    this->run([this] {
        connected both(this->io);
        const auto parks = [] { return flux::running_flow->counted().parks; };
        const std::uint64_t before = parks();
        std::array<std::byte, 8> into;
        EXPECT_EQ(both.near->receive(into, this->io.now() + 10ms).error(), ETIMEDOUT);
        EXPECT_EQ(parks(), before + 1);
        EXPECT_EQ(send(*both.far, "soon"), 0);
        EXPECT_EQ(receive_all(*both.near, 4), "soon");
        const std::uint64_t since = parks();
        EXPECT_EQ(flux::sleep_for(1ms), 0);
        EXPECT_EQ(parks(), since + 1);
    });
}

TYPED_TEST(Io, SendsMorePartsThanTheKernelTakesAtOnce)
{
    this->run([this] {
        connected both(this->io);
        std::string sent = pattern(9'000);
        std::vector<iovec> parts;
        for (std::size_t begin = 0; begin < sent.size(); begin += 3) {
            parts.push_back({sent.data() + begin, 3});
        }
        EXPECT_TRUE(both.near->send(parts, in(await_limit)).has_value());
        EXPECT_TRUE(receive_all(*both.far, sent.size()) == sent);
    });
}

TYPED_TEST(Io, WhatIsUrgentComesInItsOrderAndSoDoesWhatIsBehindIt)
{
    this->run([this] {
        place server(this->io);
        const plain_peer peer(server.listener->local());
        const auto accepted = server.accept();
        EXPECT_EQ(receive(*accepted, 1, in(1ms)), "error ETIMEDOUT");
        for (int round = 0; round < 2; ++round) {
            peer.send("abc");
            EXPECT_EQ(::send(peer.socket.get(), "d", 1, MSG_OOB), 1);
            peer.send("efg");
            std::string all;
            while (all.size() < 7 && !all.starts_with("error")) {
                all += receive(*accepted, 100, in(await_limit));
            }
            EXPECT_EQ(all, "abcdefg");
        }
    });
}

/// Sends the text, and a descriptor with its last byte.
void send_with_descriptor(const plain_peer &by, std::string text)
{
    iovec all{text.data(), text.size()};
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &all;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr &passed = *CMSG_FIRSTHDR(&message);
    passed.cmsg_level = SOL_SOCKET;
    passed.cmsg_type = SCM_RIGHTS;
    passed.cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(&passed), &by.socket, sizeof(int));
    EXPECT_EQ(sendmsg(by.socket.get(), &message, 0), static_cast<ssize_t>(text.size()));
}

TYPED_TEST(Io, ReadsOnBehindDescriptorsThatAPeerOfAUnixSocketPasses)
{
    const std::string path = testing::TempDir() + "flux_io_test." + std::to_string(getpid());
    this->run([&, this] {
        const place server(this->io, *flux::parse_address("unix:" + path));
        const plain_peer peer(server.listener->local());
        const auto accepted = server.accept();
        EXPECT_EQ(receive(*accepted, 1, in(1ms)), "error ETIMEDOUT");
        send_with_descriptor(peer, "abc");
        peer.send("def");
        std::string all;
        while (all.size() < 6 && !all.starts_with("error")) {
            all += receive(*accepted, 100, in(await_limit));
        }
        EXPECT_EQ(all, "abcdef");
    });
    unlink(path.c_str());
}

/// How many descriptors all instances of epoll of the process watch.
std::size_t watched_by_epoll()
{
    std::size_t count = 0;
    for (const auto &each : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
        std::ifstream info(each.path());
        for (std::string line; std::getline(info, line);) {
            count += line.starts_with("tfd:") ? 1 : 0;
        }
    }
    return count;
}

TYPED_TEST(Io, ArrivalsThatAreGoneAreNotNotified)
{
    this->run([this] {
        const place server(this->io);
        const std::size_t before = watched_by_epoll();
        place other(this->io);
        other.arrivals.reset();
        EXPECT_EQ(watched_by_epoll(), before);
        flux::server_io::current()->entrances.look();
        EXPECT_EQ(server.arrivals->next(in(10ms)).error(), ETIMEDOUT);
        const plain_peer peer(server.listener->local());
        peer.send("here");
        EXPECT_EQ(receive(*server.accept()), "here");
    });
}

TYPED_TEST(Io, ReadsWhatHasComeInPiecesOfAnySize)
{
    this->run([this] {
        connected both(this->io);
        const std::string sent = pattern(100'000);
        EXPECT_EQ(send(*both.near, sent), 0);
        both.near->end_output();
        std::string got;
        for (std::size_t size = 1;; size = size * 3 % 4099 + 1) {
            const std::string some = receive(*both.far, size);
            EXPECT_LE(some.size(), size);
            if (some.empty()) {
                break;
            }
            got += some;
        }
        EXPECT_TRUE(got == sent);
        EXPECT_EQ(receive(*both.far), "") << "the end stays";
    });
}

TYPED_TEST(Io, MovesMuchBothWaysAtOnce)
{
    const std::string there = pattern(5'000'000);
    const std::string back = pattern(7'000'000);
    this->run([&, this] {
        auto both = std::make_shared<connected>(this->io);
        this->world.start([&, both](flux::flow &) {
            EXPECT_EQ(send(*both->near, there), 0);
            both->near->end_output();
        });
        this->world.start([&, both](flux::flow &) {
            EXPECT_EQ(send(*both->far, back), 0);
            both->far->end_output();
        });
        this->world.start([&, both](flux::flow &) { EXPECT_TRUE(receive_all(*both->near) == back); });
        EXPECT_TRUE(receive_all(*both->far) == there);
    });
}

TYPED_TEST(Io, ServesManyStreamsAtOnce)
{
    constexpr int many = TypeParam::many;
    int served = 0;
    this->run([&, this] {
        auto server = std::make_shared<place>(this->io);
        this->world.start([&, server](flux::flow &) {
            for (int number = 0; number < many; ++number) {
                std::shared_ptr<flux::stream> accepted = server->accept();
                this->world.start([accepted](flux::flow &) {
                    for (std::string some = receive(*accepted); !some.empty(); some = receive(*accepted)) {
                        EXPECT_EQ(send(*accepted, some), 0);
                    }
                });
            }
        });
        std::vector<std::unique_ptr<flux::stream>> clients;
        for (int number = 0; number < many; ++number) {
            clients.push_back(*this->io.connect(server->listener->local()));
        }
        for (int round = 0; round < 3; ++round) {
            for (const auto &each : clients) {
                EXPECT_EQ(send(*each, pattern(1000)), 0);
            }
            for (const auto &each : clients) {
                EXPECT_TRUE(receive_all(*each, 1000) == pattern(1000));
                ++served;
            }
        }
    });
    EXPECT_EQ(served, 3 * many);
}

TYPED_TEST(Io, AStreamEndsForThePeerAndGoesOnTheOtherWay)
{
    this->run([this] {
        connected both(this->io);
        EXPECT_EQ(send(*both.near, "question"), 0);
        both.near->end_output();
        EXPECT_EQ(receive_all(*both.far), "question");
        EXPECT_EQ(send(*both.far, "answer"), 0);
        both.far.reset();
        EXPECT_EQ(receive_all(*both.near), "answer");
    });
}

TYPED_TEST(Io, KnowsWhetherSomebodyWhoIsAcceptedHasSentSomethingAlready)
{
    this->run([this] {
        place server(this->io);
        const plain_peer silent(server.listener->local());
        EXPECT_FALSE(server.accept()->has_input());
        const plain_peer quick(server.listener->local());
        quick.send("at once");
        const auto accepted = server.accept();
        EXPECT_TRUE(accepted->has_input());
        EXPECT_EQ(receive(*accepted), "at once");
        EXPECT_FALSE(accepted->has_input() && receive(*accepted, 1, flux::moment::min()) != "error ETIMEDOUT");
    });
}

TYPED_TEST(Io, APeerThatBreaksOffIsAnError)
{
    this->run([this] {
        place server(this->io);
        plain_peer peer(server.listener->local());
        const auto accepted = server.accept();
        EXPECT_EQ(receive(*accepted, 1, in(10ms)), "error ETIMEDOUT");
        peer.reset();
        EXPECT_EQ(receive(*accepted), "error ECONNRESET");
        EXPECT_EQ(receive(*accepted), "") << "it is told once";
        // It may be known by the next call only.
        const int sent = send(*accepted, "nobody listens");
        EXPECT_EQ(sent != 0 ? sent : accepted->flush().error(), EPIPE);
    });
}

TYPED_TEST(Io, WhatIsClosedEndsForThePeer)
{
    const std::size_t before = open_descriptors();
    this->run([this] {
        place server(this->io);
        for (int round = 0; round < 20; ++round) {
            plain_peer peer(server.listener->local());
            auto accepted = server.accept();
            // So that something is in flight.
            EXPECT_EQ(receive(*accepted, 1, in(1ms)), "error ETIMEDOUT");
            if (round % 2 == 0) {
                peer.send("unread");
            }
            accepted.reset();
            // The loop has a turn.
            EXPECT_EQ(this->io.make_arrivals()->next(in(5ms)).error(), ETIMEDOUT);
            EXPECT_TRUE(peer.sees_end());
        }
    });
    EXPECT_LE(open_descriptors(), before + 2) << "but for those that end all blocking waits, and all accepting";
}

TYPED_TEST(Io, AReceiveThatTimesOutLosesNothing)
{
    this->run([this] {
        connected both(this->io);
        const stopwatch since;
        EXPECT_EQ(receive(*both.far, 4096, in(20ms)), "error ETIMEDOUT");
        EXPECT_TRUE(since.has_passed(20ms));
        EXPECT_EQ(receive(*both.far, 4096, flux::moment::min()), "error ETIMEDOUT");
        EXPECT_EQ(send(*both.near, "late"), 0);
        EXPECT_EQ(receive(*both.far, 4096, in(await_limit)), "late");
    });
}

TYPED_TEST(Io, ASendThatNobodyTakesTimesOut)
{
    this->run([this] {
        connected both(this->io);
        const std::string much = pattern(30'000'000);
        const stopwatch since;
        EXPECT_EQ(send(*both.near, much, in(50ms)), ETIMEDOUT);
        EXPECT_TRUE(since.has_passed(50ms));
        // What has been sent is its beginning.
        both.near->end_output();
        const std::string got = receive_all(*both.far);
        EXPECT_GT(got.size(), 0U);
        EXPECT_LT(got.size(), much.size());
        EXPECT_TRUE(much.compare(0, got.size(), got) == 0);
    });
}

TYPED_TEST(Io, AFlowsDeadlineEndsItsWaits)
{
    this->world.start([this](flux::flow &here) {
        connected both(this->io);
        here.set_deadline(in(20ms));
        EXPECT_EQ(receive(*both.far), "error ETIMEDOUT");
        EXPECT_EQ(both.server.arrivals->next().error(), ETIMEDOUT);
    });
    this->world.run();
}

/// A socket that listens, and takes no peer any more: its row is full.
class full_listener
{
  public:
    full_listener() : socket_(socket(AF_INET, SOCK_STREAM, 0))
    {
        const flux::address any = flux::loopback_address(0);
        EXPECT_EQ(bind(socket_.get(), any.get(), any.size), 0);
        EXPECT_EQ(listen(socket_.get(), 0), 0);
        for (int number = 0; number < 4; ++number) {
            peers_.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
            const flux::address to = local();
            connect(peers_.back().get(), to.get(), to.size);
        }
    }

    flux::address local() const { return flux::local_address(socket_); }

  private:
    flux::descriptor socket_;
    std::vector<flux::descriptor> peers_;
};

TYPED_TEST(Io, ConnectingFailsOrTimesOut)
{
    this->run([this] {
        const full_listener full;
        const stopwatch since;
        EXPECT_EQ(this->io.connect(full.local(), in(50ms)).error(), ETIMEDOUT);
        EXPECT_TRUE(since.has_passed(50ms));
        auto listening = *this->io.listen(flux::loopback_address(0));
        const flux::address gone = listening->local();
        listening.reset();
        EXPECT_EQ(this->io.connect(gone).error(), ECONNREFUSED);
    });
}

TYPED_TEST(Io, AFlowThatIsCancelledWaitsNoMore)
{
    if constexpr (!TypeParam::cancels) {
        GTEST_SKIP() << "there all waits are cancelled at once, for good";
    } else {
        const full_listener full;
        std::vector<int> errors;
        this->run([&, this] {
            auto both = std::make_shared<connected>(this->io);
            std::vector<flux::flow *> waiting;
            const auto start = [&](std::function<int()> wait) {
                this->world.start([&, wait, both](flux::flow &here) {
                    waiting.push_back(&here);
                    errors.push_back(wait());
                    errors.push_back(wait());
                });
            };
            const std::string much = pattern(30'000'000);
            std::byte one{};
            start([&] { return both->near->receive({&one, 1}).error(); });
            start([&] { return send(*both->near, much); });
            start([&] { return this->io.connect(full.local()).error(); });
            start([&] { return both->server.arrivals->next().error(); });
            EXPECT_EQ(this->io.make_arrivals()->next(in(20ms)).error(), ETIMEDOUT);
            EXPECT_EQ(errors.size(), 0U);
            for (flux::flow *const each : waiting) {
                each->cancel();
            }
            EXPECT_EQ(this->io.make_arrivals()->next(in(20ms)).error(), ETIMEDOUT);
        });
        EXPECT_EQ(errors, std::vector<int>(8, ECANCELED));
    }
}

TYPED_TEST(Io, AcceptsAStormOfPeersWithTheirAddresses)
{
    this->run([this] {
        place server(this->io);
        constexpr int many = 200;
        std::vector<plain_peer> peers;
        std::vector<std::string> expected;
        for (int number = 0; number < many; ++number) {
            peers.emplace_back(server.listener->local());
            expected.push_back(flux::local_address(peers.back().socket).text());
        }
        std::vector<std::string> came;
        for (int number = 0; number < many; ++number) {
            came.push_back((*server.arrivals->next()).somebody->from.text());
        }
        std::sort(expected.begin(), expected.end());
        std::sort(came.begin(), came.end());
        EXPECT_EQ(came, expected);
        EXPECT_EQ(server.arrivals->next(in(5ms)).error(), ETIMEDOUT);
    });
}

TYPED_TEST(Io, PeersWaitWhileThereAreNoDescriptors)
{
    this->run([this] {
        rlimit usual{};
        getrlimit(RLIMIT_NOFILE, &usual);
        const rlimit few{open_descriptors() + 20, usual.rlim_max};
        setrlimit(RLIMIT_NOFILE, &few);
        place server(this->io);
        plain_peer first(server.listener->local());
        EXPECT_NE(server.accept(), nullptr);
        flux::descriptor late(socket(AF_INET, SOCK_STREAM, 0));
        std::vector<flux::descriptor> taken;
        do {
            taken.emplace_back(dup(STDERR_FILENO));
        } while (taken.back().get() >= 0);
        const flux::address to = server.listener->local();
        EXPECT_EQ(connect(late.get(), to.get(), to.size), 0);
        EXPECT_EQ(server.arrivals->next(in(50ms)).error(), ETIMEDOUT);
        taken.clear();
        setrlimit(RLIMIT_NOFILE, &usual);
        EXPECT_NE(server.accept(), nullptr);
    });
}

TYPED_TEST(Io, AWatchedStreamIsToldOnce)
{
    this->run([this] {
        place server(this->io);
        flux::arrivals &arrivals = *server.arrivals;
        plain_peer one(server.listener->local());
        plain_peer two(server.listener->local());
        auto first = server.accept();
        auto second = server.accept();
        int owners[2] = {};
        EXPECT_TRUE(arrivals.watch(*first, &owners[0]).has_value());
        EXPECT_TRUE(arrivals.watch(*second, &owners[1]).has_value());
        EXPECT_EQ(arrivals.next(in(5ms)).error(), ETIMEDOUT) << "both are idle";
        one.send("here");
        flux::arrivals::arrival told = *arrivals.next();
        EXPECT_EQ(told.owner, &owners[0]);
        EXPECT_EQ(told.somebody, nullptr);
        one.send(" again");
        EXPECT_EQ(arrivals.next(in(5ms)).error(), ETIMEDOUT) << "it is told once";
        EXPECT_EQ(receive_all(*first, 10), "here again");
        two.socket = flux::descriptor();
        EXPECT_EQ((*arrivals.next()).owner, &owners[1]) << "the end is told";
        EXPECT_EQ(receive(*second), "");
        EXPECT_TRUE(arrivals.watch(*second, &owners[1]).has_value());
        EXPECT_EQ((*arrivals.next()).owner, &owners[1]) << "and told again";
        EXPECT_TRUE(arrivals.watch(*first, &owners[0], true).has_value());
        EXPECT_EQ((*arrivals.next(in(await_limit))).owner, &owners[0]) << "soon is without any input";
        EXPECT_EQ(receive(*first, 4096, in(5ms)), "error ETIMEDOUT");
    });
}

TYPED_TEST(Io, WhatHasBeenReceivedIsNotToldAgain)
{
    this->run([this] {
        place server(this->io);
        plain_peer peer(server.listener->local());
        auto accepted = server.accept();
        int owner = 0;
        peer.send("whole");
        EXPECT_EQ(receive(*accepted, 5), "whole") << "just what there was room for: there might be more";
        EXPECT_FALSE(accepted->has_input());
        EXPECT_TRUE(server.arrivals->watch(*accepted, &owner).has_value());
        EXPECT_EQ(server.arrivals->next(in(20ms)).error(), ETIMEDOUT);
        peer.send("more");
        EXPECT_EQ((*server.arrivals->next()).owner, &owner);
        EXPECT_EQ(receive(*accepted, 2), "mo");
        EXPECT_TRUE(server.arrivals->watch(*accepted, &owner).has_value());
        EXPECT_EQ((*server.arrivals->next()).owner, &owner) << "some of it is there still";
    });
}

TYPED_TEST(Io, TheEndIsToldHoweverMuchWasReceivedBeforeIt)
{
    this->run([this] {
        place server(this->io);
        plain_peer peer(server.listener->local());
        auto accepted = server.accept();
        EXPECT_FALSE(accepted->peer_has_ended());
        int owner = 0;
        peer.send("whole");
        peer.end_output();
        EXPECT_EQ(receive(*accepted, 5), "whole");
        EXPECT_TRUE(server.arrivals->watch(*accepted, &owner).has_value());
        EXPECT_EQ((*server.arrivals->next()).owner, &owner);
        EXPECT_EQ(receive_all(*accepted), "");
    });
}

TYPED_TEST(Io, WhatIsForgottenIsNotTold)
{
    this->run([this] {
        place server(this->io);
        flux::arrivals &arrivals = *server.arrivals;
        plain_peer peer(server.listener->local());
        auto accepted = server.accept();
        int owner = 0;
        EXPECT_TRUE(arrivals.watch(*accepted, &owner).has_value());
        EXPECT_TRUE(arrivals.forget(*accepted));
        peer.send("early");
        EXPECT_EQ(arrivals.next(in(20ms)).error(), ETIMEDOUT);
        EXPECT_TRUE(arrivals.watch(*accepted, &owner).has_value());
        EXPECT_EQ((*arrivals.next()).owner, &owner);
        EXPECT_FALSE(arrivals.forget(*accepted)) << "it has been told";
        EXPECT_EQ(receive(*accepted), "early");
        EXPECT_TRUE(arrivals.watch(*accepted, &owner).has_value());
        EXPECT_TRUE(arrivals.forget(*accepted));
    });
}

TYPED_TEST(Io, NobodyIsToldOfAStreamThatIsClosedAndThatAChildHolds)
{
    this->run([this] {
        place server(this->io);
        const plain_peer one(server.listener->local());
        auto closed = server.accept();
        int owners[2] = {};
        EXPECT_TRUE(server.arrivals->watch(*closed, &owners[0]).has_value());
        EXPECT_EQ(server.arrivals->next(in(5ms)).error(), ETIMEDOUT);
        const child_with_all holds;
        EXPECT_TRUE(server.arrivals->forget(*closed));
        closed.reset();
        const plain_peer two(server.listener->local());
        const auto stranger = server.accept();
        EXPECT_TRUE(server.arrivals->watch(*stranger, &owners[1]).has_value());
        one.send("to whom?");
        EXPECT_EQ(server.arrivals->next(in(5ms)).error(), ETIMEDOUT) << "a stranger is told";
        two.send("mine");
        EXPECT_EQ((*server.arrivals->next()).owner, &owners[1]);
        EXPECT_EQ(receive(*stranger), "mine");
    });
}

TYPED_TEST(Io, ASourceThatEndsLeavesThoseWhoWaitToBeAccepted)
{
    this->run([this] {
        auto listener = *this->io.listen(flux::loopback_address(0));
        const auto source_of = [&] {
            return std::make_shared<flux::connections>(this->io, *listener, flux::first_given::at_once,
                                                       flux::silence_limits{60s, 60s});
        };
        plain_peer idle(listener->local());
        plain_peer told(listener->local());
        auto ends = source_of();
        (*ends->next())->give_back();
        (*ends->next())->give_back();
        told.send("more");
        plain_peer late(listener->local());
        const auto look_at_world = [] { flux::park(*flux::running_flow, flux::park_reason::flow).wait(in(5ms)); };
        look_at_world();
        ends->end();
        look_at_world();
        ends.reset();
        EXPECT_TRUE(idle.sees_end());
        EXPECT_TRUE(told.sees_end()) << "nobody will answer";
        late.send("late");
        flux::connection *const accepted = *source_of()->next();
        std::array<std::byte, 8> received;
        EXPECT_EQ(*accepted->receive(received), 4u);
        accepted->close();
    });
}

TYPED_TEST(Io, NewPeersAndOldOnesTakeTurns)
{
    this->run([this] {
        place server(this->io);
        constexpr int many = 6;
        std::vector<plain_peer> peers;
        std::vector<std::unique_ptr<flux::stream>> streams;
        int owner = 0;
        for (int number = 0; number < many; ++number) {
            peers.emplace_back(server.listener->local());
            streams.push_back(server.accept());
        }
        for (int number = 0; number < many; ++number) {
            EXPECT_TRUE(server.arrivals->watch(*streams[static_cast<std::size_t>(number)], &owner).has_value());
            peers[static_cast<std::size_t>(number)].send("x");
        }
        for (int number = 0; number < many; ++number) {
            peers.emplace_back(server.listener->local());
        }
        // Another waits, so that a loop learns of all of them.
        EXPECT_EQ(place(this->io).arrivals->next(in(20ms)).error(), ETIMEDOUT);
        std::string order;
        for (int number = 0; number < 2 * many; ++number) {
            const flux::arrivals::arrival came = *server.arrivals->next();
            order += came.somebody != nullptr ? 'n' : 'o';
        }
        EXPECT_EQ(std::count(order.begin(), order.end(), 'n'), many);
        EXPECT_NE(order.substr(0, 4).find('n'), std::string::npos) << order;
        EXPECT_NE(order.substr(0, 4).find('o'), std::string::npos) << order;
    });
}

std::string receive_message(flux::datagram_socket &from, std::size_t most, flux::address &by,
                            flux::moment deadline = never)
{
    std::string into(most, '\0');
    const auto came = from.receive(std::as_writable_bytes(std::span(into)), deadline);
    if (!came.has_value()) {
        return "error " + std::string(strerrorname_np(came.error()));
    }
    by = (*came).from;
    into.resize((*came).size);
    return into;
}

TYPED_TEST(Io, AllWhoWaitAtASocketAreWokenWhereMessagesComeTogether)
{
    constexpr int many = 5;
    std::atomic<int> got = 0;
    this->run([&, this] {
        auto socket = std::shared_ptr<flux::datagram_socket>(*this->io.bind(flux::loopback_address(0)));
        for (int number = 0; number < many; ++number) {
            this->world.start([&, socket](flux::flow &) {
                flux::address by;
                EXPECT_EQ(receive_message(*socket, 10, by, in(await_limit)), "x");
                ++got;
            });
        }
        EXPECT_EQ(this->io.make_arrivals()->next(in(20ms)).error(), ETIMEDOUT); // all of them wait
        const flux::descriptor peer(::socket(AF_INET, SOCK_DGRAM, 0));
        const flux::address at = socket->local();
        for (int number = 0; number < many; ++number) {
            EXPECT_EQ(sendto(peer.get(), "x", 1, 0, at.get(), at.size), 1);
        }
    });
    EXPECT_EQ(got, many);
}

TYPED_TEST(Io, MessagesComeOneByOneWithTheirSender)
{
    this->run([this] {
        std::shared_ptr<flux::datagram_socket> one = *this->io.bind(flux::loopback_address(0));
        std::shared_ptr<flux::datagram_socket> two = *this->io.bind(flux::loopback_address(0));
        flux::address by;
        EXPECT_EQ(receive_message(*two, 100, by, in(10ms)), "error ETIMEDOUT");
        const auto send_text = [](flux::datagram_socket &from, std::string_view text, const flux::address &to) {
            return from.send(std::as_bytes(std::span(text)), to).has_value();
        };
        EXPECT_TRUE(send_text(*one, "first", two->local()));
        EXPECT_TRUE(send_text(*one, "second", two->local()));
        EXPECT_TRUE(send_text(*one, "", two->local()));
        EXPECT_EQ(receive_message(*two, 100, by), "first");
        EXPECT_EQ(by.text(), one->local().text());
        EXPECT_EQ(receive_message(*two, 3, by), "sec") << "the rest is lost";
        EXPECT_EQ(receive_message(*two, 100, by), "");
        this->world.start([=](flux::flow &) { EXPECT_TRUE(send_text(*two, "answer", one->local())); });
        EXPECT_EQ(receive_message(*one, 100, by), "answer");
        EXPECT_EQ(receive_message(*one, 100, by, in(10ms)), "error ETIMEDOUT");
    });
}

template <class World>
class LoopIo : public testing::Test
{
};

using loop_worlds = testing::Types<reactor_world, proactor_world>;
TYPED_TEST_SUITE(LoopIo, loop_worlds, name_of_world);

TYPED_TEST(LoopIo, AnotherThreadEndsItsWait)
{
    TypeParam world;
    for (int round = 0; round < 100; ++round) {
        std::thread other([&] { world.io().interrupt(); });
        world.io().wait(never); // returns, or the test hangs
        world.io().deliver();
        other.join();
    }
    // One that came first is for the next wait; then there is none.
    world.io().interrupt();
    world.io().wait(never);
    world.io().deliver();
    const flux::moment end = in(20ms);
    int waits = 0;
    for (; !has_come(end); ++waits) {
        world.io().wait(end);
        world.io().deliver();
    }
    EXPECT_LE(waits, 3) << "it does not spin";
}

TYPED_TEST(LoopIo, MayBeMadeAndEndedOnOtherThreadsThanItRunsOn)
{
    const std::size_t before = open_descriptors();
    {
        TypeParam world;
        std::thread its_own([&] {
            world.start([&](flux::flow &) {
                connected both(world.io());
                EXPECT_EQ(receive(*both.far, 1, in(1ms)), "error ETIMEDOUT");
            });
            world.run();
        });
        its_own.join();
    }
    EXPECT_EQ(open_descriptors(), before);
}

} // namespace
