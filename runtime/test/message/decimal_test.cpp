#include "flux/message/decimal.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace {

template <class Integer>
std::string written(Integer value)
{
    char digits[flux::most_decimal];
    return std::string(digits, flux::write_decimal(digits, value));
}

TEST(Decimal, EveryNumberOfDigitsIsWrittenAsTheLibraryDoes)
{
    std::uint64_t power = 1;
    for (unsigned digits = 0; digits < 20; ++digits) {
        for (const std::uint64_t value : {power - 1, power, power + 1, 7 * power}) {
            EXPECT_EQ(written(value), std::to_string(value));
            EXPECT_EQ(written(static_cast<std::int64_t>(value)), std::to_string(static_cast<std::int64_t>(value)));
            EXPECT_EQ(written(static_cast<std::uint16_t>(value)), std::to_string(static_cast<std::uint16_t>(value)));
            EXPECT_EQ(written(static_cast<std::int8_t>(value)), std::to_string(static_cast<std::int8_t>(value)));
        }
        power *= 10;
    }
    EXPECT_EQ(written(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
    EXPECT_EQ(written(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
}

} // namespace
