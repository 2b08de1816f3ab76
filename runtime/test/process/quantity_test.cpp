#include "flux/process/quantity.hpp"

#include <gtest/gtest.h>

namespace {

using flux::read_duration;
using flux::read_size;

TEST(Quantity, IsADurationWithAUnitOrInSeconds)
{
    EXPECT_EQ(read_duration("500ms"), 500);
    EXPECT_EQ(read_duration("2s"), 2'000);
    EXPECT_EQ(read_duration("5m"), 300'000);
    EXPECT_EQ(read_duration("30"), 30'000);
    EXPECT_EQ(read_duration("0.25"), 250);
    EXPECT_EQ(read_duration("1.5s"), 1'500);
    EXPECT_EQ(read_duration("0"), 0);
    EXPECT_EQ(read_duration("52560000m"), flux::longest_duration);
}

TEST(Quantity, IsASizeWithAUnitOrInBytes)
{
    EXPECT_EQ(read_size("512"), 512);
    EXPECT_EQ(read_size("64k"), 65'536);
    EXPECT_EQ(read_size("2M"), 2'097'152);
    EXPECT_EQ(read_size("1G"), 1'073'741'824);
    EXPECT_EQ(read_size("9223372036854775807"), 9'223'372'036'854'775'807);
}

TEST(Quantity, IsNothingElse)
{
    for (const char *const wrong : {"", "s", "ms", "-1", "-1s", "-0", "5h", "5 s", "1e3", "0x10", "nan", "inf", "5M",
                                    "52560001m", "3153600000001ms", "99999999999999999999999999", "1s2"}) {
        EXPECT_EQ(read_duration(wrong), std::nullopt) << wrong;
    }
    for (const char *const wrong :
         {"", "k", "-1", "-1k", "5K", "5m", "1.5M", "0x10", "9223372036854775807G", "99999999999999999999"}) {
        EXPECT_EQ(read_size(wrong), std::nullopt) << wrong;
    }
}

} // namespace
