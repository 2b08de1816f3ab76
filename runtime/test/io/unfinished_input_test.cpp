#include "flux/io/unfinished_input.hpp"

#include "../support/network_sockets.hpp"
#include "../support/sized_message.hpp"
#include "../support/patience.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

using state = flux::message_parse::state;

std::span<const std::byte> bytes_of(std::string_view text)
{
    return std::as_bytes(std::span(text));
}

/// What has come of a message so far.
flux::unfinished_input begun(std::string_view first)
{
    sized::parse by;
    EXPECT_EQ(by.read(first, false), state::unfinished);
    return flux::unfinished_input(by.keep(), bytes_of(first));
}

/// Has the rest come in pieces of so many bytes, as they are received; the most room that there was at once.
std::size_t receive(flux::unfinished_input &into, std::string_view rest, std::size_t piece)
{
    std::size_t most_room = 0;
    state come = state::unfinished;
    while (!rest.empty()) {
        EXPECT_EQ(come, state::unfinished);
        const std::span<std::byte> room = into.room();
        std::size_t count = std::min(piece, rest.size());
        if (room.empty()) {
            into.append(bytes_of(rest.substr(0, count)));
        } else {
            count = std::min(count, room.size());
            std::ranges::copy(bytes_of(rest.substr(0, count)), room.begin());
            into.received(count);
        }
        most_room = std::max(most_room, room.size());
        rest.remove_prefix(count);
        come = into.read(false);
    }
    EXPECT_EQ(come, state::whole);
    return most_room;
}

TEST(UnfinishedInput, IsTheMessageOnceItIsWhole)
{
    for (const std::size_t size : {std::size_t{1}, std::size_t{100}, std::size_t{5'000}, std::size_t{300'000}}) {
        for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{4'096}, std::size_t{65'536}}) {
            const std::string whole = sized::wire(std::string(size, 'x'));
            if (size / piece > 100'000) {
                continue;
            }
            flux::unfinished_input own = begun(std::string_view(whole).substr(0, 3));
            receive(own, std::string_view(whole).substr(3), piece);
            EXPECT_TRUE(own.behind().empty());
            sized::parse into;
            own.give_to(into);
            EXPECT_EQ(into.bytes.view(), whole) << size << " bytes in pieces of " << piece;
            EXPECT_EQ(into.size(), whole.size());
        }
    }
}

TEST(UnfinishedInput, ASizeIsBelievedInSteps)
{
    const std::string whole = sized::wire(std::string(1'000'000, 'x'));
    flux::unfinished_input own = begun(std::string_view(whole).substr(0, sized::head_size));
    const std::size_t first = own.room().size();
    EXPECT_EQ(first, 4'096u) << "so much costs who claims a megabyte and sends nothing";
    own.received(first);
    EXPECT_EQ(own.read(false), state::unfinished);
    EXPECT_EQ(own.room().size(), 3 * (sized::head_size + first));
}

TEST(UnfinishedInput, NothingBehindALargeMessageIsReceivedIntoIt)
{
    const std::string whole = sized::wire(std::string(20'000, 'x'));
    flux::unfinished_input own = begun(std::string_view(whole).substr(0, 10'000));
    EXPECT_EQ(own.room().size(), whole.size() - 10'000);
}

TEST(UnfinishedInput, WhatComesBehindItIsGiven)
{
    const std::string whole = sized::wire("some text");
    flux::unfinished_input own = begun(std::string_view(whole).substr(0, 8));
    own.append(bytes_of(whole.substr(8) + sized::wire("next")));
    EXPECT_EQ(own.read(false), state::whole);
    const std::span<const std::byte> behind = own.behind();
    EXPECT_EQ(std::string(reinterpret_cast<const char *>(behind.data()), behind.size()), sized::wire("next"));
    sized::parse into;
    own.give_to(into);
    EXPECT_EQ(into.bytes.view(), whole);
}

TEST(UnfinishedInput, OneThatIsWrongSaysWhatIs)
{
    flux::unfinished_input own = begun("#");
    own.append(bytes_of("\x7f\x7f\x7f\x7f"));
    EXPECT_EQ(own.read(false), state::wrong);
    sized::parse into;
    own.explain_to(into);
    EXPECT_EQ(into.fault(), "byte 1: too long");
    EXPECT_EQ(own.so_far().size(), 5u);
    EXPECT_TRUE(own.is_of(sized::facts));
    EXPECT_FALSE(own.is_of(sized::other_facts));
}

using namespace std::chrono_literals;

/// A server that answers messages, run in each way.
class Messages : public testing::TestWithParam<std::size_t>
{
  protected:
    Messages()
    {
        network::serve_messages();
        network::served_at = flux::loopback_address(0);
        server.emplace(network::all_ways()[GetParam()].make);
        network::await_listening();
    }
    ~Messages() override
    {
        if (server) {
            server->end();
        }
    }

    flux::source_counts end()
    {
        const flux::source_counts counts = server->end();
        server.reset();
        return counts;
    }

    void await_failure(int error)
    {
        await([&] { return server->failures(error) != 0; });
    }

    std::optional<network::running_server> server;
};

std::string name_of_way(const testing::TestParamInfo<std::size_t> &which)
{
    std::string name = network::all_ways()[which.param].name;
    std::erase(name, ' ');
    return name;
}

INSTANTIATE_TEST_SUITE_P(EachWay, Messages, testing::Range(std::size_t{0}, std::size_t{6}), name_of_way);

TEST_P(Messages, AreAnsweredInOrderHoweverTheyAreCut)
{
    network::all_seen all;
    network::run_clients([&](network::socket_peer &self, std::size_t number) {
        network::send_messages(self, network::habits_of(number), 20, all[number]);
        EXPECT_FALSE(all[number].cut_short);
    });
    EXPECT_EQ(end().finished[flux::index_of(flux::outcome::failed)], 0u);
}

TEST_P(Messages, LargeOnesComeAndGo)
{
    network::socket_peer self;
    ASSERT_EQ(self.connect(network::served_at), 0);
    const std::string large(1'000'000, 'x');
    for (int round = 0; round < 3; ++round) {
        EXPECT_EQ(self.send(sized::wire("small") + sized::wire(large)), 0);
        EXPECT_EQ(self.receive_exactly(sized::head_size + 5), sized::wire("SMALL"));
        EXPECT_EQ(self.receive_exactly(sized::head_size + large.size()), sized::wire(std::string(1'000'000, 'X')));
    }
}

TEST_P(Messages, OneThatIsHalfThereHasNoFlow)
{
    constexpr std::size_t many = 200;
    std::vector<network::socket_peer> slow(many);
    for (network::socket_peer &each : slow) {
        ASSERT_EQ(each.connect(network::served_at), 0);
        EXPECT_EQ(each.send(sized::wire("slow").substr(0, 7)), 0);
    }
    network::socket_peer quick;
    ASSERT_EQ(quick.connect(network::served_at), 0);
    EXPECT_EQ(quick.send(sized::wire("quick")), 0);
    EXPECT_EQ(quick.receive_exactly(10), sized::wire("QUICK"));
    for (network::socket_peer &each : slow) {
        EXPECT_EQ(each.send("ow"), 0);
        EXPECT_EQ(each.receive_exactly(9), sized::wire("SLOW"));
    }
    EXPECT_EQ(end().started, many + 1);
}

TEST_P(Messages, WhatIsNoneEndsItsConnectionAndIsCounted)
{
    network::socket_peer self;
    ASSERT_EQ(self.connect(network::served_at), 0);
    EXPECT_EQ(self.send(sized::wire("one") + "garbage"), 0);
    EXPECT_EQ(self.receive_all(), sized::wire("ONE"));
    await_failure(EBADMSG);
    network::socket_peer late;
    ASSERT_EQ(late.connect(network::served_at), 0);
    EXPECT_EQ(late.send("#\x7f"), 0);
    dawdle(10ms);
    EXPECT_EQ(late.send("\x7f\x7f\x7f"), 0);
    EXPECT_EQ(late.receive_all(), "");
    EXPECT_EQ(end().started, 1u);
}

// At once, and where it had begun before.
TEST_P(Messages, OneForWhichThereIsNoMemoryIsNotWrong)
{
    constexpr std::string_view costly = "#\xff\xff\xff\xff";
    for (const std::size_t first : {costly.size(), std::size_t{2}}) {
        network::socket_peer self;
        ASSERT_EQ(self.connect(network::served_at), 0);
        EXPECT_EQ(self.send(sized::wire("one") + std::string(costly.substr(0, first))), 0);
        EXPECT_EQ(self.receive_exactly(sized::wire("ONE").size()), sized::wire("ONE"));
        if (first < costly.size()) {
            dawdle(10ms);
            EXPECT_EQ(self.send(std::string(costly.substr(first))), 0);
        }
        EXPECT_EQ(self.receive_all(), "");
    }
    await_failure(ENOMEM);
    EXPECT_EQ(server->failures(EBADMSG), 0u);
    EXPECT_EQ(end().started, 2u);
}

TEST_P(Messages, OneThatIsBrokenOffIsCounted)
{
    network::socket_peer self;
    ASSERT_EQ(self.connect(network::served_at), 0);
    EXPECT_EQ(self.send(sized::wire("one") + "#"), 0);
    self.end_output();
    EXPECT_EQ(self.receive_all(), sized::wire("ONE"));
    await_failure(ECONNRESET);
    EXPECT_EQ(end().started, 1u);
}

TEST_P(Messages, AServerThatEndsClosesThoseOnWhichHalfAMessageHasCome)
{
    network::socket_peer self;
    ASSERT_EQ(self.connect(network::served_at), 0);
    EXPECT_EQ(self.send(sized::wire("one") + "#"), 0);
    EXPECT_EQ(self.receive_exactly(8), sized::wire("ONE"));
    EXPECT_EQ(end().started, 1u);
    EXPECT_EQ(self.receive_all(), "");
}

} // namespace
