// Lines and counted bytes, from a peer that sends its input in pieces.
#include "flux/reading.hpp"

#include "flux/error.hpp"
#include "flux/flow/flow.hpp"
#include "flux/io/socket.hpp"
#include "flux/strategy/runner.hpp"
#include "support/sample_program.hpp"

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
    const auto soon = [] { return flux::clock::now() + std::chrono::milliseconds(50); };
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

} // namespace
