#include "flux/error.hpp"

#include <cerrno>
#include <gtest/gtest.h>

namespace {

TEST(Error, NamesItsOwnCodesOnly)
{
    EXPECT_STREQ(flux::error_name(flux::no_match), "no_match");
    EXPECT_STREQ(flux::error_name(flux::exception_thrown), "exception_thrown");
    EXPECT_STREQ(flux::error_name(flux::out_of_memory), "out_of_memory");
    EXPECT_STREQ(flux::error_name(flux::overflow), "overflow");
    EXPECT_STREQ(flux::error_name(flux::division_by_zero), "division_by_zero");
    EXPECT_STREQ(flux::error_name(flux::no_element), "no_element");
    EXPECT_STREQ(flux::error_name(flux::not_a_number), "not_a_number");
    EXPECT_STREQ(flux::error_name(flux::no_message), "no_message");
    EXPECT_EQ(flux::error_name(0), nullptr);
    EXPECT_EQ(flux::error_name(-1), nullptr);
    EXPECT_EQ(flux::error_name(ENOENT), nullptr);
}

TEST(Error, IsDescribedForPeople)
{
    EXPECT_STREQ(flux::describe_error(flux::no_match).c_str(), "no_match");
    EXPECT_STREQ(flux::describe_error(EMFILE).c_str(), "error 24 (Too many open files)");
    EXPECT_STREQ(flux::describe_error(-1).c_str(), "error -1");
    EXPECT_STREQ(flux::describe_error(100'000).c_str(), "error 100000");
}

} // namespace
