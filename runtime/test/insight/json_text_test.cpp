#include "flux/insight/json_text.hpp"

#include <gtest/gtest.h>
#include <string_view>

namespace {

TEST(JsonText, EscapesWhatAStringMayNotHave)
{
    EXPECT_EQ(flux::quoted(std::string_view("a \"b\" \\ \n\0 \x7f", 12)), "\"a \\\"b\\\" \\\\ \\u000a\\u0000 \x7f\"");
}

TEST(JsonText, PutsAReplacementForBytesThatAreNoText)
{
    EXPECT_EQ(flux::quoted("é € 😀 \uffff"), "\"é € 😀 \uffff\"");
    // No first byte, too long a form, a surrogate, beyond Unicode, one that another follows, one that ends early.
    EXPECT_EQ(flux::quoted("\x80|"), "\"\ufffd|\"");
    EXPECT_EQ(flux::quoted("\xc0\xaf|\xe0\x80\xaf"), "\"\ufffd\ufffd|\ufffd\ufffd\ufffd\"");
    EXPECT_EQ(flux::quoted("\xed\xa0\x80"), "\"\ufffd\ufffd\ufffd\"");
    EXPECT_EQ(flux::quoted("\xf4\x90\x80\x80|\xff"), "\"\ufffd\ufffd\ufffd\ufffd|\ufffd\"");
    EXPECT_EQ(flux::quoted("\xe2\x82\"\xe2\x82"), "\"\ufffd\ufffd\\\"\ufffd\ufffd\"");
}

} // namespace
