#include "flux/flow/compute.hpp"
#include <array>

#include <gtest/gtest.h>

namespace {

namespace compute = flux::compute;

// The code by which something fails; 0 where it does not.
template <class Function>
int code_of(const Function &function)
{
    try {
        function();
    } catch (const compute::failure &failed) {
        return failed.code;
    }
    return 0;
}

TEST(Compute, IntegersDoNotWrap)
{
    EXPECT_EQ(compute::add<std::uint8_t>(250, 5), 255);
    EXPECT_EQ(code_of([] { compute::add<std::uint8_t>(250, 6); }), flux::overflow);
    EXPECT_EQ(compute::subtract(3u, 3), 0u);
    EXPECT_EQ(code_of([] { compute::subtract(3u, 4); }), flux::overflow);
    EXPECT_EQ(compute::multiply(-2, 3), -6);
    EXPECT_EQ(code_of([] { compute::multiply(INT64_MAX, 2); }), flux::overflow);
    EXPECT_EQ(compute::negate(-7), 7);
    EXPECT_EQ(code_of([] { compute::negate(INT32_MIN); }), flux::overflow);
}

TEST(Compute, DivisionsHaveAResult)
{
    EXPECT_EQ(compute::divide(-7, 2), -3);
    EXPECT_EQ(compute::remainder(-7, 2), -1);
    EXPECT_EQ(code_of([] { compute::divide(1, 0); }), flux::division_by_zero);
    EXPECT_EQ(code_of([] { compute::remainder(1u, 0); }), flux::division_by_zero);
    EXPECT_EQ(code_of([] { compute::divide(INT64_MIN, -1); }), flux::overflow);
    EXPECT_EQ(code_of([] { compute::remainder(INT64_MIN, -1); }), flux::overflow);
    EXPECT_EQ(compute::divide(1.0, 0), INFINITY);
}

TEST(Compute, ConversionsKeepTheValue)
{
    EXPECT_EQ(compute::to<std::uint8_t>(255), 255);
    EXPECT_EQ(code_of([] { compute::to<std::uint8_t>(256); }), flux::overflow);
    EXPECT_EQ(code_of([] { compute::to<std::uint64_t>(-1); }), flux::overflow);
    EXPECT_EQ(compute::to<int>(-2.9), -2);
    EXPECT_EQ(compute::to<std::uint8_t>(255.5), 255);
    EXPECT_EQ(code_of([] { compute::to<std::uint8_t>(256.0); }), flux::overflow);
    EXPECT_EQ(code_of([] { compute::to<std::int64_t>(9223372036854775808.0); }), flux::overflow);
    EXPECT_EQ(code_of([] { compute::to<int>(NAN); }), flux::overflow);
    EXPECT_EQ(compute::to<double>(7), 7.0);
}

TEST(Compute, NumbersAreReadAndWritten)
{
    EXPECT_EQ(compute::read<int>("-42"), -42);
    EXPECT_EQ(compute::read<double>("1.5"), 1.5);
    for (const char *text : {"", " 1", "1 ", "+1", "x", "0x1"}) {
        EXPECT_EQ(code_of([text] { compute::read<int>(text); }), flux::not_a_number) << text;
    }
    EXPECT_EQ(code_of([] { compute::read<std::uint8_t>("256"); }), flux::overflow);
    EXPECT_EQ(compute::text(-42), "-42");
    EXPECT_EQ(compute::text(0.1), "0.1");
    EXPECT_EQ(compute::text(true), "true");
}

TEST(Compute, PartsOfMessagesBecomeValuesOfTheirOwn)
{
    const std::array<std::uint16_t, 2> list{3, 4};
    EXPECT_EQ(compute::own<std::vector<std::uint16_t>>(list), (std::vector<std::uint16_t>{3, 4}));
    const std::optional<std::string_view> some = "key";
    EXPECT_EQ(compute::own<std::optional<std::string>>(some), std::optional<std::string>("key"));
    EXPECT_EQ(compute::own<std::optional<std::string>>(std::optional<std::string_view>()), std::nullopt);
}

TEST(Compute, WhatMakesNoMessageFails)
{
    EXPECT_EQ(compute::made(flux::expected<int, int>(3)), 3);
    EXPECT_EQ(code_of([] { compute::made(flux::expected<int, int>(flux::unexpected(22))); }), flux::no_message);
}

TEST(Compute, ElementsAreThere)
{
    const std::vector<int> list = {1, 2, 3};
    EXPECT_EQ(compute::at(list, 2), 3);
    EXPECT_EQ(code_of([&] { compute::at(list, 3); }), flux::no_element);
    EXPECT_EQ(compute::slice(list, 1), (std::vector<int>{2, 3}));
    EXPECT_EQ(compute::slice(std::string("abc"), 1, 2), "b");
    EXPECT_EQ(code_of([] { compute::slice(std::string("abc"), 2, 1); }), flux::no_element);
    EXPECT_EQ(code_of([] { compute::slice(std::string("abc"), 2, 4); }), flux::no_element);
    const std::map<std::string, int> map = {{"a", 1}};
    EXPECT_EQ(compute::at(map, "a"), 1);
    EXPECT_EQ(code_of([&] { compute::at(map, "b"); }), flux::no_element);
    EXPECT_EQ(compute::value(std::optional<int>(4)), 4);
    EXPECT_EQ(code_of([] { compute::value(std::optional<int>()); }), flux::no_element);
    EXPECT_TRUE(compute::contains(list, 2) && compute::contains(map, "a") && compute::contains("abc", "bc"));
    EXPECT_FALSE(compute::contains(list, 4) || compute::contains(map, "b") || compute::contains("abc", "cb"));
}

TEST(Compute, TextsAreTakenApart)
{
    EXPECT_EQ(compute::position("a=b", "="), 1u);
    EXPECT_EQ(code_of([] { compute::position("a", "="); }), flux::no_element);
    EXPECT_EQ(compute::lower("AbZ[é"), "abz[é");
    EXPECT_EQ(compute::upper("aBz{é"), "ABZ{é");
    std::string all;
    std::string lower;
    std::string upper;
    for (int byte = 0; byte < 256; ++byte) {
        const char each = static_cast<char>(byte);
        all += each;
        lower += each >= 'A' && each <= 'Z' ? static_cast<char>(each + 'a' - 'A') : each;
        upper += each >= 'a' && each <= 'z' ? static_cast<char>(each + 'A' - 'a') : each;
        // Of each size, so that all ways to go through them are gone.
        const std::size_t first = all.size() - all.size() % 16;
        EXPECT_EQ(compute::lower(std::string_view(all).substr(first)), lower.substr(first));
        EXPECT_EQ(compute::upper(std::string_view(all).substr(first)), upper.substr(first));
    }
    EXPECT_EQ(compute::lower(all), lower);
    EXPECT_EQ(compute::upper(all), upper);
    EXPECT_TRUE(compute::is(std::string_view(), ""));
    EXPECT_TRUE(compute::is("get", "get"));
    EXPECT_FALSE(compute::is("gets", "get"));
    EXPECT_EQ(compute::trim(" \ta b\r\n"), "a b");
    EXPECT_EQ(compute::trim(" "), "");
    EXPECT_EQ(compute::split("a,,b", ","), (std::vector<std::string>{"a", "", "b"}));
    EXPECT_EQ(compute::split("", ","), std::vector<std::string>{""});
    EXPECT_EQ(compute::split("ab", ""), std::vector<std::string>{"ab"});
    EXPECT_EQ(compute::join({"a", "b", "c"}, ", "), "a, b, c");
    EXPECT_EQ(compute::join({}, ", "), "");
}

TEST(Compute, AListIsAddedToItself)
{
    std::vector<int> list = {1, 2};
    compute::append(list, list);
    compute::append(list, {3});
    EXPECT_EQ(list, (std::vector<int>{1, 2, 1, 2, 3}));
    EXPECT_EQ(compute::joined(list, {4}).back(), 4);
}

TEST(Compute, WhatIsNotThereHasAnotherValue)
{
    const std::vector<int> list = {1, 2, 3};
    EXPECT_EQ(compute::get(list, 2, 9), 3);
    EXPECT_EQ(compute::get(list, 3, 9), 9);
    const std::map<std::string, int> map = {{"a", 1}};
    EXPECT_EQ(compute::get(map, "a", 9), 1);
    EXPECT_EQ(compute::get(map, "b", 9), 9);
}

TEST(Compute, ElementsArePut)
{
    std::vector<std::string> list = {"a", "b"};
    compute::put(list, 1, "c");
    EXPECT_EQ(list, (std::vector<std::string>{"a", "c"}));
    EXPECT_EQ(code_of([&] { compute::put(list, 2, "d"); }), flux::no_element);
    compute::append_one(list, "e");
    EXPECT_EQ(list.back(), "e");
    auto map = compute::map<std::string, int>({{"b", 1}, {"a", 2}, {"b", 3}});
    EXPECT_EQ(map, (std::map<std::string, int>{{"a", 2}, {"b", 3}})) << "the later one counts";
    compute::put(map, "a", 4);
    compute::put(map, "c", 5);
    EXPECT_EQ(map, (std::map<std::string, int>{{"a", 4}, {"b", 3}, {"c", 5}}));
}

TEST(Compute, WhatLoopsMakeIsBounded)
{
    std::string text(compute::most, 'x');
    EXPECT_EQ(compute::bounded(text).size(), compute::most);
    EXPECT_EQ(code_of([&] { compute::append(text, "y"); }), flux::too_large);
    EXPECT_EQ(text.size(), compute::most);
    EXPECT_EQ(code_of([&] { compute::bounded(text + "y"); }), flux::too_large);
    EXPECT_EQ(code_of([&] { compute::join({text, text}, ""); }), flux::too_large);
    std::vector<bool> list(compute::most);
    EXPECT_EQ(code_of([&] { compute::append_one(list, true); }), flux::too_large);
    EXPECT_EQ(code_of([&] { compute::append(list, list); }), flux::too_large);
    EXPECT_EQ(code_of([&] { compute::joined(list, {true}); }), flux::too_large);
}

TEST(Compute, ListsAreMadeOfLists)
{
    const std::vector<int> list = {3, 1, 2};
    const auto twice = [](int number) { return 2 * number; };
    const auto odd = [](int number) { return number % 2 == 1; };
    EXPECT_EQ(compute::collect<int>(list, twice), (std::vector<int>{6, 2, 4}));
    EXPECT_EQ(compute::collect<int>(list, twice, odd), (std::vector<int>{6, 2}));
    const std::map<std::string, int> map = {{"b", 1}, {"a", 2}};
    const auto row = [](const std::string &key, int value) { return key + std::to_string(value); };
    EXPECT_EQ(compute::collect<std::string>(map, row), (std::vector<std::string>{"a2", "b1"}));
    EXPECT_EQ(compute::length(list, twice, odd), 2u);
    EXPECT_EQ(compute::sum<int>(list, twice, odd), 8);
    EXPECT_EQ(compute::min<int>(list, twice), 2);
    EXPECT_EQ(compute::max<int>(list, std::identity()), 3);
    EXPECT_TRUE(compute::any(list, odd) && !compute::all(list, odd) && compute::all(list, odd, odd));
    EXPECT_FALSE(compute::any(list, odd, [](int number) { return number == 2; }));
}

TEST(Compute, NothingHasASumAndNoSmallest)
{
    const std::vector<std::uint8_t> none;
    EXPECT_EQ(compute::sum<std::uint8_t>(none, std::identity()), 0);
    EXPECT_EQ(code_of([&] { compute::min<std::uint8_t>(none, std::identity()); }), flux::no_element);
    EXPECT_EQ(code_of([&] { compute::max<std::uint8_t>(none, std::identity()); }), flux::no_element);
    EXPECT_TRUE(compute::all(none, std::identity()) && !compute::any(none, std::identity()));
    const std::vector<std::uint8_t> much = {200, 56};
    EXPECT_EQ(code_of([&] { compute::sum<std::uint8_t>(much, std::identity()); }), flux::overflow);
}

} // namespace
