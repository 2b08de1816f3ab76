// Lines and counted bytes, from a stream whose pieces the test cuts.
#include "flux/reading.hpp"

#include "flux/error.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace {

/// Gives one piece for each call, and then its last word: 0 is the end of the input.
class pieces final : public flux::stream
{
  public:
    pieces(std::vector<std::string> all, int last_word) : all_(std::move(all)), last_word_(last_word) {}

    flux::io_result<std::size_t> receive(std::span<std::byte> into, flux::moment) noexcept override
    {
        if (next_ == all_.size()) {
            const int said = std::exchange(last_word_, 0);
            return said == 0 ? flux::io_result<std::size_t>(0) : flux::unexpected(said);
        }
        std::string &piece = all_[next_];
        const std::size_t count = std::min(piece.size(), into.size());
        std::memcpy(into.data(), piece.data(), count);
        piece.erase(0, count);
        next_ += piece.empty() ? 1 : 0;
        return count;
    }

    flux::io_result<void> send(std::span<iovec>, flux::moment) noexcept override { return {}; }
    void end_output() noexcept override {}

  private:
    std::vector<std::string> all_;
    std::size_t next_ = 0;
    int last_word_;
};

/// A connection whose input comes in these pieces.
class input
{
  public:
    explicit input(std::vector<std::string> all, int last_word = 0)
        : connection_(*new flux::connection(std::make_unique<pieces>(std::move(all), last_word), flux::address()))
    {
    }
    input(const input &) = delete;
    ~input() { connection_.close(); }

    std::string line(std::size_t most = 100) { return text_of(flux::read_line(connection_, most)); }
    std::string exactly(std::size_t count) { return text_of(flux::read_exactly(connection_, count)); }

  private:
    static std::string text_of(const flux::io_result<std::string> &read)
    {
        return read.has_value() ? *read : std::string(flux::describe_error(read.error()).c_str());
    }

    flux::connection &connection_;
};

const std::string too_long = flux::describe_error(EMSGSIZE).c_str();
const std::string timed_out = flux::describe_error(ETIMEDOUT).c_str();
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
    EXPECT_EQ(some.line(), "end_of_input");
    EXPECT_EQ(input({}).exactly(1), "end_of_input");
    EXPECT_EQ(input({"on"}).exactly(3), broken_off);
    EXPECT_EQ(input({}).exactly(0), "");
}

TEST(Reading, BoundsALine)
{
    EXPECT_EQ(input({"1234\n"}).line(4), "1234");
    EXPECT_EQ(input({"1234", "\r\n"}).line(4), "1234");
    EXPECT_EQ(input({"1234\r", "\n"}).line(4), "1234");
    EXPECT_EQ(input({"12345\n"}).line(4), too_long);
    EXPECT_EQ(input({"1234", "5"}).line(4), broken_off) << "it may be a carriage return yet";
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
    input line({"half a "}, ETIMEDOUT);
    EXPECT_EQ(line.line(), timed_out);
    EXPECT_EQ(line.exactly(7), "half a ");
    input count({"half"}, ETIMEDOUT);
    EXPECT_EQ(count.exactly(8), timed_out);
    EXPECT_EQ(count.exactly(4), "half");
}

TEST(Reading, IsTheSameHoweverTheInputIsCut)
{
    std::mt19937 random(10);
    for (int round = 0; round < 300; ++round) {
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
        ASSERT_EQ(some.line(), "end_of_input");
    }
}

} // namespace
