// Values whose type is known only at run time.
#include "flux/value.hpp"

#include "flux/constraint/key.hpp"
#include "flux/flow/compute.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <thread>

namespace {

using flux::value;
using list = value::list;
using map = value::map;

/// Values in the order that is written down, each less than the next.
list in_order()
{
    const double infinity = std::numeric_limits<double>::infinity();
    const auto largest = std::numeric_limits<std::int64_t>::max();
    return {value(),
            false,
            true,
            -infinity,
            -0x1p63 - 4096,
            std::numeric_limits<std::int64_t>::min(),
            -0x1p63,
            -1.5,
            -1,
            0,
            -0.0,
            0.0,
            0.5,
            1,
            1.0,
            1.5,
            2,
            std::int64_t{1} << 53,
            0x1p53,
            (std::int64_t{1} << 53) + 1,
            largest,
            0x1p63,
            infinity,
            std::nan(""),
            "",
            "a",
            std::string("a\0b", 3),
            "ab",
            "\xff",
            list{},
            list{value()},
            list{1},
            list{1, 2},
            list{2},
            list{list{}},
            map{},
            map{{"a", 1}},
            map{{"a", 1}, {"b", 1}},
            map{{"a", 2}},
            map{{"b", 0}}};
}

/// Whether a function fails the node with this code.
template <class Function>
int code_of(Function function)
{
    try {
        function();
    } catch (const flux::compute::failure &failed) {
        return failed.code;
    }
    return 0;
}

TEST(Value, IsWhatItWasMadeOf)
{
    EXPECT_EQ(value().what(), value::kind::undefined);
    EXPECT_TRUE(*value(true).get_if<bool>());
    EXPECT_EQ(*value(std::uint32_t{7}).get_if<std::int64_t>(), 7);
    EXPECT_EQ(*value(1.5F).get_if<double>(), 1.5);
    EXPECT_EQ(*value("seven").get_if<std::string>(), "seven");
    EXPECT_EQ(value(list{1, "a"}).get_if<list>()->size(), 2u);
    EXPECT_TRUE(value(map{}).is<map>() && !value(map{}).is<list>());
    EXPECT_EQ(value("7").get_if<std::int64_t>(), nullptr);
    static_assert(!std::is_constructible_v<value, std::uint64_t>, "not every one is an int64");
    static_assert(!std::is_constructible_v<value, int *>);
}

TEST(Value, HasPartsThatAreUndefinedWhereThereAreNone)
{
    const value item = map{{"name", "x"}, {"sizes", list{1, 2}}};
    EXPECT_EQ(item["name"], "x");
    EXPECT_EQ(item["sizes"][1], 2);
    for (const value &none : {item["mail"], item[0], item["sizes"][2], item["sizes"][-1], item["sizes"]["a"],
                              item["name"]["x"][0]}) {
        EXPECT_EQ(none, value());
    }
}

TEST(Value, HasATotalOrder)
{
    const list all = in_order();
    for (std::size_t left = 0; left < all.size(); ++left) {
        for (std::size_t right = 0; right < all.size(); ++right) {
            EXPECT_EQ(all[left] <=> all[right], left <=> right) << left << " and " << right;
            EXPECT_EQ(all[left] == all[right], left == right) << left << " and " << right;
        }
    }
    EXPECT_EQ(value(std::nan("1")), value(-std::nan("2")));
}

TEST(Value, HashesEqualWhereItIsEqual)
{
    const list all = in_order(), again = in_order();
    for (std::size_t left = 0; left < all.size(); ++left) {
        EXPECT_EQ(all[left].hash(), again[left].hash()) << left;
        for (std::size_t right = 0; right < left; ++right) {
            EXPECT_NE(all[left].hash(), all[right].hash()) << left << " and " << right;
        }
    }
    EXPECT_EQ(value(std::nan("1")).hash(), value(-std::nan("2")).hash());
}

// A text may have in it what another text begins with in the hash, and its end.
TEST(Value, HashesTextsApart)
{
    std::string begin(8, '\0');
    begin += static_cast<char>(4) + std::string(7, '\0');
    const std::string rest(240, 'x');
    const value left = list{value(""), value(rest + begin)};
    const value right = list{value(begin + rest), value("")};
    EXPECT_NE(left.hash(), right.hash());
}

TEST(Value, IsAKeyOfConstraints)
{
    static_assert(flux::keyable<value> && flux::keyable<std::tuple<value, int>>);
    EXPECT_EQ(flux::key_of(value("a")), flux::key_of(value("a")));
    EXPECT_NE(flux::key_of(value("1")), flux::key_of(value(1)));
    EXPECT_NE(flux::key_of(value(1), 2), flux::key_of(value(2), 1));
}

TEST(Value, SharesWhatItIsCopiedFrom)
{
    const value one = list{"a", "b"};
    value copy = one;
    EXPECT_EQ(copy.get_if<list>(), one.get_if<list>());
    copy = copy[0];
    EXPECT_EQ(copy, "a");
    EXPECT_EQ(one[1], "b");
}

TEST(Value, MayBecomeAPartOfItself)
{
    value one = list{"a", list{"b"}};
    one = one[1];
    EXPECT_EQ(one, value(list{"b"}));
    one = one[0];
    EXPECT_EQ(one, "b");
}

TEST(Value, IsUndefinedOnceItIsMovedFrom)
{
    value one = "a", other = map{};
    const value moved = std::move(one);
    EXPECT_EQ(one, value());
    EXPECT_EQ(moved, "a");
    value &same = other;
    other = std::move(same);
    EXPECT_EQ(other.what(), value::kind::map);
}

TEST(Value, IsOnlySoDeep)
{
    value deep = 1;
    for (std::uint32_t depth = 0; depth < value::max_depth; ++depth) {
        deep = depth % 2 == 0 ? value(list{deep}) : value(map{{"a", deep}});
    }
    EXPECT_EQ(code_of([&] { deep = list{deep}; }), flux::too_large);
    EXPECT_EQ(code_of([&] { deep = map{{"a", deep}}; }), flux::too_large);
    EXPECT_EQ(deep, value(deep));
}

TEST(Value, CountsWhatItSharesAsOftenAsItIsThere)
{
    value wide = std::string(1000, 'x');
    std::uint64_t size = 1001;
    while (size * 2 + 1 <= value::max_size) {
        wide = list{wide, wide};
        size = size * 2 + 1;
    }
    EXPECT_EQ(code_of([&] { wide = list{wide, wide}; }), flux::too_large);
    EXPECT_EQ(code_of([&] { wide = map{{"a", wide}, {"b", wide}}; }), flux::too_large);
    EXPECT_EQ(code_of([] { value(std::string(value::max_size, 'x')); }), flux::too_large);
    EXPECT_EQ(code_of([] { value(std::string(value::max_size - 1, 'x')); }), 0);
}

TEST(Value, MayBeCopiedByTwoThreads)
{
    const value shared = map{{"names", list{"a", "b"}}};
    const auto read = [&shared] {
        for (int turn = 0; turn < 1000; ++turn) {
            const value names = value(shared)["names"];
            EXPECT_EQ(names[1], "b");
        }
    };
    std::thread other(read);
    read();
    other.join();
}

} // namespace
