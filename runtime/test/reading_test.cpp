// Lines and counted bytes, from a peer that sends its input in pieces.
#include "flux/reading.hpp"

#include "flux/error.hpp"
#include "flux/flow/flow.hpp"
#include "flux/io/socket.hpp"
#include "flux/strategy/runner.hpp"
#include "support/sample_program.hpp"
#include "support/sized_message.hpp"
#include "support/patience.hpp"

#include <cerrno>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <random>
#include <sys/socket.h>
#include <thread>
#include <vector>

namespace {

/// A connection, in a flow, whose other side sends these pieces one by one, and then ends its input or stays silent.
class input
{
  public:
    enum class then : unsigned char { ends, is_silent };

    explicit input(std::vector<std::string> pieces, then last = then::ends)
    {
        here_.run_on(own_);
        flux::running_flow = &here_;
        const flux::descriptor listener(socket(AF_INET, SOCK_STREAM, 0));
        EXPECT_EQ(listen(listener.get(), 1), 0);
        flux::address at = flux::local_address(listener);
        connection_ = *flux::connect(flux::loopback_address(at.port()));
        other_ = flux::descriptor(accept(listener.get(), nullptr, nullptr));
        const int on = 1;
        setsockopt(other_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        sender_ = std::thread([this, last, pieces = std::move(pieces)] {
            for (const std::string &each : pieces) {
                (void)!::send(other_.get(), each.data(), each.size(), MSG_NOSIGNAL); // who reads may have gone
            }
            if (last == then::ends) {
                shutdown(other_.get(), SHUT_WR);
            }
        });
    }
    input(const input &) = delete;
    ~input()
    {
        flux::running_flow = &here_; // a later one may have had the thread meanwhile
        EXPECT_TRUE(connection_->close().has_value());
        flux::running_flow = nullptr;
        sender_.join();
    }

    std::string line(std::size_t most = 100, flux::moment deadline = flux::never)
    {
        return text_of(flux::read_line(*connection_, most, deadline));
    }
    std::string exactly(std::size_t count, flux::moment deadline = flux::never)
    {
        return text_of(flux::read_exactly(*connection_, count, deadline));
    }
    /// The text of a message, or the error.
    std::string message(flux::moment deadline = flux::never, const flux::message_facts &of = sized::facts)
    {
        sized::parse into(of);
        const flux::io_result<void> come = connection_->receive_message(into, deadline);
        fault_ = come.has_value() || come.error() != EBADMSG ? "" : into.fault();
        return come.has_value() ? std::string(sized::text_of(into.bytes.view()))
                                : std::string(flux::describe_error(come.error()).c_str());
    }
    /// What was wrong with the last message.
    const std::string &fault() const { return fault_; }

    /// What is there is put back before itself.
    void put_back(std::string_view text)
    {
        EXPECT_TRUE(connection_->put_back(std::as_bytes(std::span(text))).has_value());
    }

  private:
    static std::string text_of(const flux::io_result<std::string> &read)
    {
        return read.has_value() ? *read : std::string(flux::describe_error(read.error()).c_str());
    }

    flux::runner own_{sample::program};
    flux::flow here_;
    flux::connection *connection_ = nullptr;
    flux::descriptor other_;
    std::thread sender_;
    std::string fault_;
};

const std::string too_long = flux::describe_error(EMSGSIZE).c_str();
const std::string timed_out = flux::describe_error(ETIMEDOUT).c_str();
const std::string no_more = flux::describe_error(ENODATA).c_str();
const std::string broken_off = flux::describe_error(ECONNRESET).c_str();

TEST(Reading, GivesLinesWithoutTheirEnds)
{
    input some({"one\ntwo\r\n\n\r\nth", "ree\r", "\nfour"});
    for (const char *const line : {"one", "two", "", "", "three"}) {
        EXPECT_EQ(some.line(), line);
    }
    EXPECT_EQ(some.line(), broken_off);
}

TEST(Reading, SaysThatTheInputHasEnded)
{
    input some({"one\n"});
    EXPECT_EQ(some.line(), "one");
    EXPECT_EQ(some.line(), no_more);
    EXPECT_EQ(input({}).exactly(1), no_more);
    EXPECT_EQ(input({"on"}).exactly(3), broken_off);
    EXPECT_EQ(input({}).exactly(0), "");
}

TEST(Reading, BoundsALine)
{
    EXPECT_EQ(input({"1234\n"}).line(4), "1234");
    EXPECT_EQ(input({"1234", "\r\n"}).line(4), "1234");
    EXPECT_EQ(input({"1234\r", "\n"}).line(4), "1234");
    EXPECT_EQ(input({"12345\n"}).line(4), too_long);
    EXPECT_EQ(input({"12345"}).line(4), broken_off) << "it may be a carriage return yet";
    EXPECT_EQ(input({"1234", "56", "\n"}).line(4), too_long);
    EXPECT_EQ(input({std::string(100'000, 'x')}).line(4), too_long);
    EXPECT_EQ(input({"\n"}).line(0), "");
    EXPECT_EQ(input({"x\n"}).line(SIZE_MAX), "x");
}

TEST(Reading, LeavesWhatComesAfterIt)
{
    input some({"5\nabcdeSET a b\nrest"});
    EXPECT_EQ(some.line(), "5");
    EXPECT_EQ(some.exactly(5), "abcde");
    EXPECT_EQ(some.line(), "SET a b");
    EXPECT_EQ(some.exactly(4), "rest");
}

TEST(Reading, KeepsWhatHasComeWhenTheTimeIsOver)
{
    const auto soon = [] { return in(std::chrono::milliseconds(50)); };
    input line({"half a "}, input::then::is_silent);
    EXPECT_EQ(line.line(100, soon()), timed_out);
    EXPECT_EQ(line.exactly(7), "half a ");
    input count({"half"}, input::then::is_silent);
    EXPECT_EQ(count.exactly(8, soon()), timed_out);
    EXPECT_EQ(count.exactly(4), "half");
}

TEST(Reading, IsTheSameHoweverTheInputIsCut)
{
    std::mt19937 random(10);
    for (int round = 0; round < 60; ++round) {
        std::string text;
        std::vector<std::string> lines;
        for (int number = 0; number < 20; ++number) {
            lines.emplace_back(random() % (number % 4 == 0 ? 9000 : 30), static_cast<char>('a' + number));
            text += lines.back() + (random() % 2 == 0 ? "\n" : "\r\n");
        }
        std::vector<std::string> cut;
        while (!text.empty()) {
            cut.push_back(text.substr(0, 1 + random() % (round % 2 == 0 ? 7000 : 40)));
            text.erase(0, cut.back().size());
        }
        input some(std::move(cut));
        for (const std::string &line : lines) {
            ASSERT_EQ(some.line(9000), line) << "round " << round;
        }
        ASSERT_EQ(some.line(), no_more);
    }
}

const std::string wrong = flux::describe_error(EBADMSG).c_str();

std::vector<std::string> cut(const std::string &whole, std::size_t piece)
{
    std::vector<std::string> pieces;
    for (std::size_t at = 0; at < whole.size(); at += piece) {
        pieces.push_back(whole.substr(at, piece));
    }
    return pieces;
}

TEST(Reading, GivesMessagesHoweverTheyAreCut)
{
    const std::string large(300'000, 'x');
    for (const std::size_t piece : {1U, 2U, 3U, 7U, 11U, 1'000U}) {
        input some(cut(sized::wire("one") + sized::wire("") + sized::wire("three"), piece));
        EXPECT_EQ(some.message(), "one");
        EXPECT_EQ(some.message(), "");
        EXPECT_EQ(some.message(), "three");
        EXPECT_EQ(some.message(), no_more);
    }
    for (const std::size_t piece : {1'000U, 50'000U, 65'536U, 400'000U}) {
        input some(cut(sized::wire("one") + sized::wire(large) + sized::wire(large) + sized::wire("last"), piece));
        EXPECT_EQ(some.message(), "one");
        EXPECT_EQ(some.message(), large);
        EXPECT_EQ(some.message(), large);
        EXPECT_EQ(some.message(), "last");
        EXPECT_EQ(some.message(), no_more);
    }
}

TEST(Reading, AMessageMayGoToTheEndOfTheInput)
{
    input some({sized::wire("one") + "@to", " the ", "end"});
    EXPECT_EQ(some.message(), "one");
    EXPECT_EQ(some.message(), "to the end");
    EXPECT_EQ(some.message(), no_more);
}

TEST(Reading, LinesAndMessagesMayFollowEachOther)
{
    input some({"line\n" + sized::wire("mess"), "\nnext line\n"});
    EXPECT_EQ(some.line(), "line");
    EXPECT_EQ(some.message(), "mess");
    EXPECT_EQ(some.line(), "");
    EXPECT_EQ(some.line(), "next line");
}

TEST(Reading, TheBeginningOfAMessageStaysWhereItsRestIsLate)
{
    input some({"#", std::string(3, '\0')}, input::then::is_silent);
    const auto soon = [] { return flux::running_io().now() + std::chrono::milliseconds(20); };
    EXPECT_EQ(some.message(soon()), timed_out);
    EXPECT_EQ(some.message(soon()), timed_out);
    EXPECT_EQ(some.message(soon(), sized::other_facts), timed_out) << "as a message of another class";
    EXPECT_EQ(some.exactly(2), std::string("#\0", 2));
    some.put_back("#");
    EXPECT_EQ(some.message(soon()), timed_out);
    some.put_back("\n");
    EXPECT_EQ(some.line(), "") << "before what has come of the message";
}

TEST(Reading, AMessageThatIsBrokenOffIsAnError)
{
    input some({sized::wire("one") + "#", std::string(2, '\0')});
    EXPECT_EQ(some.message(), "one");
    EXPECT_EQ(some.message(), broken_off);
}

TEST(Reading, WhatIsNoMessageIsAnErrorThatSaysWhere)
{
    input some({sized::wire("one") + "garbage"});
    EXPECT_EQ(some.message(), "one");
    EXPECT_EQ(some.message(), wrong);
    EXPECT_EQ(some.fault(), "byte 0: no message begins so");
    input more({"#\x7f", "\x7f\x7f", "\x7f"});
    EXPECT_EQ(more.message(), wrong);
    EXPECT_EQ(more.fault(), "byte 1: too long");
}

} // namespace
