#include "flux/error.hpp"

#include <cerrno>
#include <gtest/gtest.h>

namespace {

TEST(Error, NamesItsOwnCodesOnly)
{
    EXPECT_STREQ(flux::error_name(flux::no_match), "no_match");
    EXPECT_STREQ(flux::error_name(flux::exception_thrown), "exception_thrown");
    EXPECT_STREQ(flux::error_name(flux::out_of_memory), "out_of_memory");
    EXPECT_EQ(flux::error_name(0), nullptr);
    EXPECT_EQ(flux::error_name(-1), nullptr);
    EXPECT_EQ(flux::error_name(ENOENT), nullptr);
}

TEST(Error, IsDescribedForPeople)
{
    EXPECT_EQ(flux::describe_error(flux::no_match), "no_match");
    EXPECT_EQ(flux::describe_error(EMFILE), "error 24 (Too many open files)");
    EXPECT_EQ(flux::describe_error(-1), "error -1");
    EXPECT_EQ(flux::describe_error(100'000), "error 100000");
}

} // namespace
