// The text of an exception: kept for one failure, and bounded.

#include "flux/flow/error_text.hpp"

#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <utility>

namespace {

std::string kept(const std::string &text)
{
    flux::error_text one;
    one.keep(text.c_str());
    one.fail();
    return one.copy();
}

TEST(ErrorText, ThereIsNoneBeforeTheFirstFailure)
{
    EXPECT_EQ(flux::error_text().copy(), "");
}

TEST(ErrorText, ATextIsThereUntilTheNextFailure)
{
    flux::error_text text;
    text.keep("one");
    text.fail();
    EXPECT_EQ(text.copy(), "one");
    EXPECT_EQ(text.copy(), "one");
    text.keep("two");
    text.fail();
    EXPECT_EQ(text.copy(), "two");
    text.fail();
    EXPECT_EQ(text.copy(), "");
}

TEST(ErrorText, ANewFlowHasNone)
{
    flux::error_text text;
    text.keep("one");
    text.fail();
    text.begin();
    EXPECT_EQ(text.copy(), "");
    text.keep("two");
    text.begin();
    text.fail();
    EXPECT_EQ(text.copy(), "");
    text.keep("three");
    text.fail();
    EXPECT_EQ(text.copy(), "three");
}

TEST(ErrorText, AnEmptyTextReplacesAnother)
{
    flux::error_text text;
    text.keep("one");
    text.fail();
    text.keep("");
    text.fail();
    EXPECT_EQ(text.copy(), "");
}

TEST(ErrorText, ATextGoesFromABranchToItsFlow)
{
    flux::error_text branch;
    branch.keep("one");
    branch.fail();
    flux::error_text flow = std::move(branch);
    EXPECT_EQ(flow.copy(), "one");
    EXPECT_EQ(branch.copy(), "");
    flow.fail();
    EXPECT_EQ(flow.copy(), "");
}

TEST(ErrorText, ALongTextIsCutBetweenCharacters)
{
    const std::string full(flux::error_text::longest, 'x');
    EXPECT_EQ(kept(full), full);
    EXPECT_EQ(kept(full + "y"), full);
    // Characters of two, three and four bytes, of which the last byte does not fit.
    for (const std::string_view character : {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) {
        const std::string before(flux::error_text::longest + 1 - character.size(), 'x');
        EXPECT_EQ(kept(before + std::string(character) + "y"), before);
    }
}

} // namespace
