#include "flux/message.hpp"

#include <gtest/gtest.h>
#include <span>
#include <string>

namespace {

flux::message message_of(std::string_view text)
{
    return flux::message(flux::message_bytes::copy_of(std::as_bytes(std::span(text))));
}

TEST(Message, IsItsBytes)
{
    const flux::message none;
    EXPECT_EQ(none.wire(), "");
    const flux::message some = message_of("abc");
    EXPECT_EQ(some.wire(), "abc");
    const flux::message same = some;
    EXPECT_EQ(same.wire().data(), some.wire().data());
    EXPECT_EQ(same.bytes().view(), "abc");
}

TEST(Message, MayBeAPartOfAnother)
{
    const flux::message whole = message_of("head body tail");
    const flux::message part(whole.bytes(), 5, 9);
    EXPECT_EQ(part.wire(), "body");
    EXPECT_EQ(part.wire().data(), whole.wire().data() + 5);
    EXPECT_EQ(part.bytes().view(), whole.wire());
    EXPECT_EQ(part, message_of("body"));
}

TEST(Message, IsComparedByItsBytes)
{
    EXPECT_EQ(message_of("abc"), message_of("abc"));
    EXPECT_NE(message_of("abc"), message_of("abd"));
    EXPECT_LT(message_of("abc"), message_of("abd"));
    EXPECT_GT(message_of("b"), message_of("abd"));
    EXPECT_EQ(flux::message(), message_of(""));
}

} // namespace
