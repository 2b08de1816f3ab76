#include "flux/flow/value_or_error.hpp"

#include "flux/expected.hpp"

#include <cstddef>
#include <gtest/gtest.h>
#include <memory>
#include <string>

namespace {

// Of two machine words, which a function gives back in registers.
static_assert(std::is_trivially_copyable_v<flux::expected<std::size_t, int>>);
static_assert(sizeof(flux::expected<std::size_t, int>) == 2 * sizeof(std::size_t));

template <class Value>
void keeps_either(const Value &given)
{
    const flux::value_or_error<Value, int> with_value(std::in_place_index<0>, given);
    EXPECT_TRUE(with_value.has_value());
    EXPECT_EQ(with_value.value(), given);
    flux::value_or_error<Value, int> other(std::in_place_index<1>, 7);
    EXPECT_FALSE(other.has_value());
    EXPECT_EQ(other.error(), 7);
    other = with_value;
    EXPECT_EQ(other.value(), given);
    const flux::value_or_error<Value, int> begun;
    EXPECT_TRUE(begun.has_value());
    EXPECT_EQ(begun.value(), Value());
}

TEST(ValueOrError, KeepsEither)
{
    keeps_either<std::size_t>(3);
    keeps_either<std::string>("a text that needs memory of its own");
}

TEST(ValueOrError, AValueIsMovedOut)
{
    flux::expected<std::unique_ptr<int>, int> given(std::make_unique<int>(5));
    ASSERT_TRUE(given.has_value());
    const std::unique_ptr<int> taken = *std::move(given);
    EXPECT_EQ(*taken, 5);
}

} // namespace
