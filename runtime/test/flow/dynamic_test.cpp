// Values of the type `value` in bodies: how they are made, and read.
#include "flux/flow/dynamic.hpp"

#include <gtest/gtest.h>
#include <limits>

namespace generated {

enum class method { get, put };

struct hit {
    std::string path;
    method how;
};

} // namespace generated

// As generated code has it.
namespace flux::compute {

template <>
inline flux::value to_value(const generated::method &from)
{
    return name_of(from, {"get", "put"});
}

template <>
inline flux::value to_value(const generated::hit &from)
{
    return flux::compute::map<std::string, flux::value>({{"path", to_value(from.path)}, {"how", to_value(from.how)}});
}

} // namespace flux::compute

namespace {

using namespace generated;
using flux::value;
using flux::compute::as;
using flux::compute::to_value;
using list = value::list;
using map = value::map;

/// The code with which a function fails the node; 0 where it does not.
template <class Function>
int code_of(Function function)
{
    try {
        static_cast<void>(function());
    } catch (const flux::compute::failure &failed) {
        return failed.code;
    }
    return 0;
}

TEST(Dynamic, IsMadeOfAnyValue)
{
    EXPECT_EQ(to_value(true), true);
    EXPECT_EQ(to_value(std::uint64_t{7}), 7);
    EXPECT_EQ(to_value(2.5F), 2.5);
    EXPECT_EQ(to_value(std::string("a")), "a");
    EXPECT_EQ(to_value(std::optional<std::vector<int>>()), value());
    EXPECT_EQ(to_value(std::optional<std::vector<int>>({1, 2})), value(list{1, 2}));
    EXPECT_EQ(to_value(std::vector<bool>{true, false}), value(list{true, false}));
    EXPECT_EQ(to_value(std::map<std::string, std::optional<int>>{{"a", 1}, {"b", std::nullopt}}),
              value(map{{"a", 1}, {"b", value()}}));
}

TEST(Dynamic, HasWhatGeneratedCodeSaysOfRecords)
{
    const std::vector<std::optional<hit>> hits = {hit{"/", method::put}, std::nullopt};
    EXPECT_EQ(to_value(hits), value(list{map{{"path", "/"}, {"how", "put"}}, value()}));
    EXPECT_EQ(to_value(static_cast<method>(2)), value());
}

TEST(Dynamic, FailsWhereAnIntegerIsTooLarge)
{
    const auto largest = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(code_of([&] { return to_value(largest); }), flux::overflow);
    EXPECT_EQ(code_of([&] { return to_value(std::vector<std::uint64_t>{1, largest}); }), flux::overflow);
}

TEST(Dynamic, IsReadAsWhatItIs)
{
    EXPECT_EQ(as<bool>(true), true);
    EXPECT_EQ(as<std::uint8_t>(255), 255);
    EXPECT_EQ(as<std::int64_t>(2.9), 2);
    EXPECT_EQ(as<double>(2), 2.0);
    EXPECT_EQ(as<float>(2.5), 2.5F);
    EXPECT_EQ(as<std::string>("a"), "a");
    EXPECT_EQ(as<list>(list{1}), (list{1}));
    EXPECT_EQ(as<map>(map{{"a", 1}}), (map{{"a", 1}}));
    const value text = "shared";
    EXPECT_EQ(&as<std::string>(text), text.get_if<std::string>()) << "nothing is copied to be looked at";
}

TEST(Dynamic, FailsWhereItIsReadAsSomethingElse)
{
    EXPECT_EQ(code_of([] { return as<bool>(1); }), flux::wrong_type);
    EXPECT_EQ(code_of([] { return as<int>("1"); }), flux::wrong_type);
    EXPECT_EQ(code_of([] { return as<double>(value()); }), flux::wrong_type);
    EXPECT_EQ(code_of([] { return as<std::string>(1).size(); }), flux::wrong_type);
    EXPECT_EQ(code_of([] { return as<list>(map{}).size(); }), flux::wrong_type);
    EXPECT_EQ(code_of([] { return as<std::uint8_t>(256); }), flux::overflow);
    EXPECT_EQ(code_of([] { return as<std::uint8_t>(-1); }), flux::overflow);
    EXPECT_EQ(code_of([] { return as<std::int64_t>(1e300); }), flux::overflow);
}

} // namespace
