#include "flux/process/log_ring.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

/// A ring with the counter that it takes its turns from.
struct tested {
    std::unique_ptr<flux::log_ring> ring = std::make_unique<flux::log_ring>();
    std::atomic<std::uint64_t> turns{0};

    void push(const std::string &text) { ring->push(text, turns); }

    /// The first line; empty where there is none. Adds to `left_out` what was left out before it.
    std::string take()
    {
        flux::log_ring::front first;
        if (!ring->peek(first)) {
            return "";
        }
        left_out += ring->left_out_before(first);
        std::string text(first.size, ' ');
        ring->take(first, text.data());
        ring->release();
        return text;
    }

    std::uint32_t left_out = 0;
};

TEST(LogRing, GivesLinesInTheirOrderAndWhole)
{
    tested tested;
    std::mt19937 random(1);
    std::vector<std::string> lines;
    for (int number = 0; number < 20'000; ++number) {
        lines.push_back(std::to_string(number) + std::string(random() % 700, 'x'));
    }
    // A few at a time, so that they come round the end of the buffer at many places.
    for (std::size_t next = 0; next < lines.size();) {
        const std::size_t end = std::min(lines.size(), next + 1 + random() % 80);
        for (std::size_t line = next; line < end; ++line) {
            tested.push(lines[line]);
        }
        for (; next < end; ++next) {
            ASSERT_EQ(tested.take(), lines[next]);
        }
        ASSERT_EQ(tested.take(), "");
    }
    EXPECT_EQ(tested.left_out, 0u);
    EXPECT_EQ(tested.ring->begin(), tested.ring->end());
}

TEST(LogRing, CountsWhatItLeavesOutAndSaysWhere)
{
    tested tested;
    const std::string line(84, 'x');
    const std::size_t fit = flux::log_ring::capacity / 100;
    for (std::size_t number = 0; number < fit + 7; ++number) {
        tested.push(line);
    }
    EXPECT_EQ(tested.take(), line);
    tested.push("behind");
    EXPECT_EQ(tested.ring->left_out_behind(), 0u) << "they are left out before a line that is still there";
    for (std::size_t number = 1; number < fit; ++number) {
        EXPECT_EQ(tested.take(), line);
        EXPECT_EQ(tested.left_out, 0u);
    }
    EXPECT_EQ(tested.take(), "behind");
    EXPECT_EQ(tested.left_out, 7u);
    EXPECT_EQ(tested.ring->left_out_behind(), 0u);
}

TEST(LogRing, SaysWhatIsLeftOutBehindAllLines)
{
    tested tested;
    while (tested.ring->has_room(100)) {
        tested.push(std::string(100, 'x'));
    }
    tested.push(std::string(100, 'x'));
    tested.push(std::string(100, 'x'));
    while (!tested.take().empty()) {
    }
    EXPECT_TRUE(tested.ring->has_news());
    EXPECT_EQ(tested.left_out + tested.ring->left_out_behind(), 2u);
    EXPECT_FALSE(tested.ring->has_news());
}

TEST(LogRing, IsHalfFullWhenItIs)
{
    tested tested;
    EXPECT_FALSE(tested.ring->is_half_full());
    while (tested.ring->end() <= flux::log_ring::capacity / 2) {
        EXPECT_FALSE(tested.ring->end() < flux::log_ring::capacity / 2 - 1000 && tested.ring->is_half_full());
        tested.push(std::string(100, 'x'));
    }
    EXPECT_TRUE(tested.ring->is_half_full());
}

TEST(LogRing, BelongsToOneAtATime)
{
    const auto ring = std::make_unique<flux::log_ring>();
    EXPECT_TRUE(ring->borrow());
    EXPECT_FALSE(ring->borrow());
    ring->give_back();
    EXPECT_TRUE(ring->borrow());
}

TEST(LogRing, NoLineIsLostOrTornBetweenTwoThreads)
{
    constexpr int lines = 100'000;
    tested tested;
    std::jthread logs([&] {
        for (int number = 1; number <= lines; ++number) {
            tested.push(std::to_string(number) + std::string(static_cast<std::size_t>(number) % 90, '.'));
        }
    });
    int last = 0;
    std::uint32_t taken = 0;
    while (taken + tested.left_out < lines) {
        const std::string line = tested.take();
        if (line.empty()) {
            tested.left_out += tested.ring->left_out_behind();
            continue;
        }
        const int number = std::stoi(line);
        ASSERT_GT(number, last);
        ASSERT_EQ(line, std::to_string(number) + std::string(static_cast<std::size_t>(number) % 90, '.'));
        last = number;
        ++taken;
    }
    logs.join();
    EXPECT_FALSE(tested.ring->has_news());
    EXPECT_EQ(tested.turns, taken);
}

} // namespace
