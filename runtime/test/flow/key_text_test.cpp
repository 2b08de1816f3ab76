#include "flux/flow/key_text.hpp"

#include "flux/constraint/key.hpp"
#include "flux/flow/hot_keys.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <string>

namespace {

using flux::key_text;

std::string shown(std::string_view text)
{
    return key_text(text).shown();
}

enum class colour : signed char { red = -1 };

struct hashed {
    flux::key_number hash() const noexcept { return 7; }
};

TEST(KeyText, IsTheTextItself)
{
    EXPECT_EQ(shown("alice"), "alice");
    EXPECT_EQ(shown(""), "");
    EXPECT_TRUE(key_text(std::string_view()).is_known());
    EXPECT_EQ(shown("Jos\u00e9 \u20ac \U0001f600"), "Jos\u00e9 \u20ac \U0001f600");
}

TEST(KeyText, EscapesWhatIsNoCharacter)
{
    EXPECT_EQ(shown("a\tb\x7f"), "a\\x09b\\x7f");
    EXPECT_EQ(shown("a\\x09"), "a\\\\x09");
    EXPECT_EQ(shown(std::string_view("\0\xff\xc3", 3)), "\\x00\\xff\\xc3") << "no UTF-8";
    EXPECT_EQ(shown("\xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80"),
              "\\xc0\\xaf \\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80")
        << "overlong, a surrogate, beyond the last";
    EXPECT_EQ(shown("\xc2\x85"), "\\xc2\\x85") << "a control character";
}

TEST(KeyText, IsCutBetweenCharacters)
{
    const std::string whole(key_text::most, 'x');
    EXPECT_EQ(shown(whole), whole);
    EXPECT_EQ(shown(whole + "y"), whole + "...");
    const std::string before(key_text::most - 1, 'x');
    EXPECT_EQ(shown(before + "\u00e9"), before + "...");
    EXPECT_EQ(shown(before + "\xff" + "y"), before + "\\xff...");
}

TEST(KeyText, IsOfNumbersAndStringsAlone)
{
    const auto text = [](const auto &...parts) { return flux::shown_as(parts...).text(); };
    EXPECT_EQ(text(-7).shown(), "-7");
    EXPECT_EQ(text(std::numeric_limits<std::uint64_t>::max()).shown(), "18446744073709551615");
    EXPECT_EQ(text(true).shown(), "1");
    EXPECT_EQ(text('a').shown(), "97");
    EXPECT_EQ(text(colour::red).shown(), "-1");
    EXPECT_EQ(text(std::string("bob")).shown(), "bob");
    EXPECT_EQ(text("bob").shown(), "bob");
    EXPECT_FALSE(text(static_cast<const char *>(nullptr)).is_known());
    EXPECT_FALSE(text(hashed()).is_known());
    EXPECT_FALSE(text(1, 2).is_known());
}

TEST(KeyText, IsTakenOverWithTheCount)
{
    flux::hot_keys keys;
    const std::string name = "first";
    keys.add(1, flux::shown_as(name));
    const std::string other = "other";
    keys.add(1, flux::shown_as(other));
    EXPECT_EQ(keys.most()[0].text.shown(), "first");
    for (std::uint64_t key = 2; key <= flux::hot_keys::kept + 1; ++key) {
        for (int time = 0; time < 3; ++time) {
            keys.add(key, flux::shown_as(key));
        }
    }
    for (const flux::hot_key &each : keys.most()) {
        EXPECT_EQ(each.text.shown(), std::to_string(each.key));
    }
}

} // namespace
