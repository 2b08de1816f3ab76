#include "flux/message/known_cursor.hpp"

#include <gtest/gtest.h>
#include <string_view>

namespace {

// Texts that end at a byte, after so many bytes, and with the last byte of a set.
TEST(known_cursor, finds_the_parts_of_a_message_again)
{
    constexpr std::string_view bytes = "before;a name that is longer than sixteen bytes:value123;";
    flux::known_cursor in(bytes, 7);
    flux::message_part name;
    flux::message_part value;
    flux::message_part number;
    in.until(name, in.end_at(':'));
    in.skip(1);
    in.text(value, 5);
    in.run(number, flux::byte_set<"0-9">());
    EXPECT_EQ(in.view(name), "a name that is longer than sixteen bytes");
    EXPECT_EQ(in.view(value), "value");
    EXPECT_EQ(in.view(number), "123");
    EXPECT_EQ(in.position(), bytes.size() - 1);
}

} // namespace
