#include "flux/flow/copy.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <string>

namespace {

TEST(Copy, CopiesArraysOfArrays)
{
    const std::string from[2][2] = {{"a", "b"}, {"c", "d"}};
    std::string to[2][2];
    flux::copy(to, from);
    EXPECT_EQ(to[0][1], "b");
    EXPECT_EQ(to[1][0], "c");
    EXPECT_EQ(from[1][1], "d");
}

TEST(Copy, MovesElements)
{
    std::unique_ptr<int> from[1][2] = {{std::make_unique<int>(1), std::make_unique<int>(2)}};
    std::unique_ptr<int> to[1][2];
    flux::copy(to, std::move(from));
    EXPECT_EQ(*to[0][0], 1);
    EXPECT_EQ(*to[0][1], 2);
    EXPECT_EQ(from[0][0], nullptr);
}

TEST(Copy, KnowsWhatCanBeKept)
{
    EXPECT_TRUE(flux::keepable<int>);
    EXPECT_TRUE(flux::keepable<std::string[2][3]>);
    EXPECT_FALSE(flux::keepable<std::unique_ptr<int>>);
    EXPECT_FALSE(flux::keepable<std::unique_ptr<int>[2]>);
}

} // namespace
