#include "flux/flow/compute.hpp"

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

} // namespace
