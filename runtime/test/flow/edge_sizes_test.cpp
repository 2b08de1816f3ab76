#include "flux/flow/edge_sizes.hpp"

#include "flux/flow/value_size.hpp"
#include "flux/message.hpp"
#include "flux/value.hpp"
#include "../support/running_source.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace pictures {

struct image {
    std::size_t pixels;
};

std::size_t flux_size(const image &of) noexcept
{
    return of.pixels * 4;
}

std::size_t flux_size(const image *of) noexcept
{
    return of == nullptr ? 0 : flux_size(*of);
}

enum class format { png, jpeg };

struct header {
    std::uint32_t width;
    std::uint32_t height;
};

} // namespace pictures

namespace {

using flux::edge_sizes;
using flux::size_of_values;
using flux::value_size;

TEST(ValueSize, IsWhatAValueHolds)
{
    const std::string text(100, 'x');
    EXPECT_EQ(value_size(text), 100u);
    EXPECT_EQ(value_size(std::string_view(text).substr(40)), 60u);
    EXPECT_EQ(value_size(std::vector<std::uint32_t>(7)), 28u);
    EXPECT_EQ(value_size(std::vector<bool>(9)), 9u);
    EXPECT_EQ(value_size(std::vector<std::string>{"a", "bcd", ""}), 4u);
    EXPECT_EQ(value_size(std::map<std::string, std::uint16_t>{{"one", std::uint16_t{1}}}), 5u);
    EXPECT_EQ(value_size(std::optional<std::string>()), 0u);
    EXPECT_EQ(value_size(std::optional<std::string>("four")), 4u);
    EXPECT_EQ(value_size(std::pair<std::string, std::uint64_t>("four", 1)), 12u);
    EXPECT_EQ(value_size(pictures::header{1, 2}), 8u);
    char name[32] = "short";
    EXPECT_EQ(value_size(name), 32u);
    EXPECT_EQ(value_size(flux::value("four")), 5u) << "as it counts itself: one for the value";
    EXPECT_EQ(value_size(std::vector<flux::value>{"four", 7}), 6u) << "and not as one value, which it could become";
}

TEST(ValueSize, OfAMessageIsWhatIsOnTheWire)
{
    const std::string text = "get key\r\n";
    const auto bytes = flux::message_bytes::copy_of(std::as_bytes(std::span(text)));
    EXPECT_EQ(value_size(bytes), text.size());
    EXPECT_EQ(value_size(flux::message(bytes)), text.size());
    EXPECT_EQ(value_size(flux::message(bytes, 4, 7)), 3u) << "a part of another";
    EXPECT_EQ(value_size(flux::message()), 0u);
    struct command : flux::message {
        using flux::message::message;
    };
    EXPECT_EQ(value_size(std::vector<command>{command(bytes), command(bytes)}), 2 * text.size());
}

TEST(ValueSize, IsWhatItsAuthorSays)
{
    const pictures::image one{10};
    EXPECT_EQ(value_size(one), 40u);
    EXPECT_EQ(value_size(std::vector<pictures::image>(3, one)), 120u);
    EXPECT_EQ(size_of_values(&one), 40u) << "a pointer to one";
}

TEST(ValueSize, OfManyElementsIsShownByTheFirst)
{
    std::vector<std::string> many(100'000, "1234");
    EXPECT_EQ(value_size(many), 400'000u);
    many.resize(flux::most_measured);
    many.back() = "";
    EXPECT_EQ(value_size(many), 4 * (flux::most_measured - 1));
}

TEST(ValueSize, LeavesOutWhatIsInARegister)
{
    EXPECT_EQ(size_of_values(), 0u);
    EXPECT_EQ(size_of_values(5, true, 2.5, pictures::format::png, "text", std::string("four")), 4u + sizeof "text");
    EXPECT_EQ(size_of_values(static_cast<const char *>("text"), nullptr), 0u);
}

TEST(ValueSize, KnowsWhichTypesSayIt)
{
    using flux::has_fixed_size;
    EXPECT_TRUE(has_fixed_size<int>);
    EXPECT_TRUE(has_fixed_size<int *>);
    EXPECT_TRUE(has_fixed_size<pictures::header>);
    EXPECT_TRUE(has_fixed_size<std::unique_ptr<std::string>>);
    EXPECT_TRUE(has_fixed_size<char[32]>);
    EXPECT_TRUE((has_fixed_size<std::array<int, 4>>));
    EXPECT_FALSE((has_fixed_size<std::array<std::string, 4>>));
    EXPECT_FALSE((has_fixed_size<std::pair<int, std::string>>));
    EXPECT_FALSE(has_fixed_size<std::string>);
    EXPECT_FALSE(has_fixed_size<flux::message>);
    EXPECT_FALSE(has_fixed_size<flux::value>);
    EXPECT_FALSE(has_fixed_size<pictures::image>);
    EXPECT_FALSE(has_fixed_size<const pictures::image *>);
}

TEST(EdgeSizes, AreOfEachEdgeByItself)
{
    edge_sizes sizes(3);
    sizes.add(0, 1, 100, 1);
    sizes.add(0, 1, 300, 3);
    sizes.add(2, 1, 0, 1);
    sizes.add(3, 0, 7, 1);
    sizes.add(0, 99, 7, 1); // no node
    std::vector<flux::edge_size_counts> counts = sizes.counts();
    std::ranges::sort(counts, {}, [](const auto &each) { return std::pair(each.to, each.from); });
    ASSERT_EQ(counts.size(), 3u);
    EXPECT_EQ(counts[0].from, 3u);
    EXPECT_EQ(counts[0].bytes.sum(), 7u);
    EXPECT_EQ(counts[1].from, 0u);
    EXPECT_EQ(counts[1].bytes.times(), 4u);
    EXPECT_EQ(counts[1].bytes.measured(), 2u);
    EXPECT_EQ(counts[1].bytes.sum(), 1'000u);
    EXPECT_NEAR(static_cast<double>(counts[1].bytes.quantile(0.5)), 300, 300 / 64.0 + 1);
    EXPECT_EQ(counts[2].bytes.times(), 1u);
    EXPECT_EQ(counts[2].bytes.quantile(1), 0u);
}

// Under every strategy, of flows that take both ways at the first choice; which others are timed is known.
TEST(EdgeSizes, OfFlowsThatAreTimedStandForTheOthers)
{
    constexpr int count = 64 + 2 * 32;
    for (const auto strategy : {flux::strategy_kind::thread, flux::strategy_kind::pool, flux::strategy_kind::event}) {
        sample::work = nullptr;
        sample::listen = sample::flows(count, [](int number) { return sample::Listen_out{1 + number % 2, 1, -1}; });
        sample::running_source running(sample::program, sample::source_Listen, strategy, 4);
        running.await_finished(count);
        const std::vector<flux::edge_size_counts> counts = running.all.times().on_edges();
        const auto of = [&](flux::edge_origin from, sample::node to) {
            const auto found = std::ranges::find_if(
                counts, [&](const auto &each) { return each.from == from && each.to == flux::node_number{to}; });
            return found == counts.end() ? flux::histogram_counts() : found->bytes;
        };
        EXPECT_EQ(counts.size(), 3u) << "what has no size of its own is given to Main and Choose";
        const std::size_t all = std::size("ListenBegin") - 1;
        // Those that were timed of a number of flows, of which some stand for two.
        const flux::histogram_counts begin = of(sample::node_Main, sample::node_Begin);
        EXPECT_GE(begin.times(), 127u);
        EXPECT_LT(begin.measured(), begin.times());
        EXPECT_EQ(begin.sum(), begin.times() * 6);
        const flux::histogram_counts one = of(sample::node_Choose, sample::node_One);
        EXPECT_EQ(one.quantile(0), all + std::size("Choose:[one]") - 1);
        EXPECT_GT(one.times(), begin.times()) << "some come there twice";
        const flux::histogram_counts end = of(sample::node_One, sample::node_End);
        EXPECT_EQ(end.times(), begin.times()) << "each from its second choice";
        EXPECT_NEAR(static_cast<double>(end.quantile(1)), 41, 1);
    }
}

TEST(EdgeSizes, AreAddedToByManyThreads)
{
    edge_sizes sizes(2);
    std::vector<std::thread> threads;
    for (int number = 0; number < 4; ++number) {
        threads.emplace_back([&] {
            for (std::uint32_t i = 0; i < 8'000; ++i) {
                sizes.add(i % 40, i % 2, i, 1);
            }
        });
    }
    for (std::thread &each : threads) {
        each.join();
    }
    const std::vector<flux::edge_size_counts> counts = sizes.counts();
    EXPECT_EQ(counts.size(), 40u) << "twenty come to each of the two";
    for (const auto &each : counts) {
        EXPECT_EQ(each.bytes.times(), 800u);
    }
}

} // namespace
