#include "flux/process/log_tail.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <thread>

namespace {

using flux::log_tail;

std::string line(unsigned number)
{
    return "line " + std::to_string(number) + "\n";
}

TEST(LogTail, HasAllLinesAsLongAsTheyFit)
{
    const auto tail = std::make_unique<log_tail>();
    EXPECT_EQ(tail->last().text, "");
    tail->add("one\n");
    tail->add("");
    tail->add("two\nthree\n");
    EXPECT_EQ(tail->last().text, "one\ntwo\nthree\n");
    EXPECT_EQ(tail->last().before, 0U);
    const std::string full(log_tail::capacity - 15, '.');
    tail->add(full + "\n");
    EXPECT_EQ(tail->last().text.size(), log_tail::capacity);
    EXPECT_EQ(tail->last().before, 0U);
}

TEST(LogTail, HasTheLastWholeLinesAndSaysHowManyWereBefore)
{
    const auto tail = std::make_unique<log_tail>();
    for (unsigned each = 0; each < 50'000; ++each) {
        tail->add(line(each));
        if (each % 997 == 0 || each == 49'999) {
            const log_tail::lines last = tail->last();
            std::string expected;
            for (std::uint64_t other = last.before; other <= each; ++other) {
                expected += line(static_cast<unsigned>(other));
            }
            ASSERT_EQ(last.text, expected) << each;
        }
    }
    EXPECT_GT(tail->last().text.size(), log_tail::capacity - 32);
}

TEST(LogTail, HasTheEndOfWhatIsLongerThanItself)
{
    const auto tail = std::make_unique<log_tail>();
    tail->add("first\n" + std::string(log_tail::capacity, '.') + "\nlast\n");
    EXPECT_EQ(tail->last().text, "last\n");
    EXPECT_EQ(tail->last().before, 2U);
    tail->add(std::string(2 * log_tail::capacity, '.'));
    EXPECT_EQ(tail->last().text, "");
    EXPECT_EQ(tail->last().before, 3U);
}

TEST(LogTail, IsReadWhileLinesCome)
{
    const auto tail = std::make_unique<log_tail>();
    std::thread adds([&] {
        for (unsigned each = 0; each < 50'000; ++each) {
            tail->add(line(each));
        }
    });
    for (unsigned times = 0; times < 100; ++times) {
        const log_tail::lines last = tail->last();
        ASSERT_EQ(last.text.substr(0, last.text.find('\n') + 1), last.text.empty() ? "" : line(unsigned(last.before)));
    }
    adds.join();
    EXPECT_EQ(tail->last().text.rfind(line(49'999)), tail->last().text.size() - line(49'999).size());
}

} // namespace
