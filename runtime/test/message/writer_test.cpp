#include "flux/message/writer.hpp"

#include <bit>
#include <cerrno>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace {

// What is written for itself, and never read: a text, a number, and another message as it is.
class letter : public flux::message
{
  public:
    struct places : flux::places_of<letter> {
        flux::message_part text;
        flux::message_places inner;
        std::int16_t number = 0;
        std::uint8_t sum = 0;
    };
    static constexpr flux::message_facts facts{"test.letter", 40};

    letter() noexcept = default;
    letter(flux::message_bytes bytes, const places &at) noexcept : flux::message(std::move(bytes)), at_(at) {}

    const places &at() const noexcept { return at_; }
    std::string_view of(const flux::message_part &part) const
    {
        return wire().substr(part.begin, part.end - part.begin);
    }

  private:
    places at_;
};

using writer = flux::sized_message_writer;

// The most that the digits of a number are.
constexpr std::size_t most_digits = flux::most_decimal;

TEST(sized_message_writer, notes_where_everything_is)
{
    letter::places at;
    writer out(1 + 5 + most_digits + 7);
    out.integer<std::uint8_t, 1, std::endian::big>(5);
    out.text("hello", at.text);
    out.digits(-12, 10, at.number);
    out.part("another", at.inner);
    out.variable(17U, at.sum);
    out.require(at.sum == 17);
    EXPECT_EQ(out.position(), 16U);
    const auto made = out.made<letter>(at);
    ASSERT_TRUE(made.has_value());
    EXPECT_EQ((*made).wire(), "\005hello-12another");
    EXPECT_EQ((*made).of((*made).at().text), "hello");
    EXPECT_EQ((*made).of((*made).at().inner.whole), "another");
    EXPECT_EQ((*made).of((*made).at().whole), (*made).wire());
    EXPECT_EQ((*made).at().number, -12);
    EXPECT_EQ((*made).at().sum, 17);
}

// Whatever it is told first, there is room for: all of it, or less.
TEST(sized_message_writer, has_exactly_the_room_that_it_is_told)
{
    for (std::size_t size = 0; size <= 40; ++size) {
        const std::string text(size, 'x');
        letter::places at;
        writer out(size);
        out.text(std::string_view(text).substr(0, size / 2), at.text);
        out.part(std::string_view(text).substr(size / 2), at.inner);
        const auto made = out.made<letter>(at);
        ASSERT_TRUE(made.has_value()) << size;
        EXPECT_EQ((*made).wire(), text);
        EXPECT_EQ((*made).of((*made).at().text).size(), size / 2);
        EXPECT_EQ((*made).of((*made).at().inner.whole).size(), size - size / 2);
    }
    letter::places at;
    writer least(8);
    least.integer<std::uint64_t, 8, std::endian::little>(std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ((*least.made<letter>(at)).wire(), std::string(8, '\xff'));
    writer digits(2 * most_digits);
    digits.digits(std::numeric_limits<std::int64_t>::min(), 10);
    digits.digits(0, 10);
    EXPECT_EQ((*digits.made<letter>(at)).wire(), "-92233720368547758080");
    writer bits(3);
    bits.bits(0x12345, 20);
    bits.bits(0xf, 4);
    EXPECT_EQ((*bits.made<letter>(at)).wire(), "\x12\x34\x5f");
    writer ended(5);
    ended.until("abc", "\r\n", 3, at.text);
    EXPECT_EQ((*ended.made<letter>(at)).wire(), "abc\r\n");
}

#ifndef NDEBUG
TEST(sized_message_writer_death, ends_where_there_is_more_than_it_was_told)
{
    writer out(3);
    out.text("abc");
    out.text("");
    EXPECT_DEATH(out.text("d"), "more <= room");
}
#endif

// What one of them writes, with room for all, is no message.
bool is_made(auto write)
{
    letter::places at;
    writer out(64);
    out.text("!");
    write(out, at);
    const auto made = out.made<letter>(at);
    EXPECT_TRUE(made.has_value() || made.error() == EINVAL);
    return made.has_value();
}

TEST(sized_message_writer, makes_nothing_of_values_that_do_not_fit)
{
    EXPECT_TRUE(is_made([](writer &out, auto &at) { out.variable(255, at.sum); }));
    EXPECT_FALSE(is_made([](writer &out, auto &at) { out.variable(256, at.sum); }));
    EXPECT_FALSE(is_made([](writer &out, auto &at) { out.variable(-1, at.sum); }));
    EXPECT_FALSE(is_made([](writer &out, auto &at) { out.variable(std::uint64_t{1} << 63, at.number); }));
    EXPECT_TRUE(is_made([](writer &out, auto &) { out.require(true); }));
    EXPECT_FALSE(is_made([](writer &out, auto &) { out.require(false); }));
    // What comes behind does not mend it.
    EXPECT_FALSE(is_made([](writer &out, auto &at) {
        out.require(false);
        out.require(true);
        out.variable(1, at.sum);
        out.text("more", at.text);
    }));
    EXPECT_FALSE(is_made([](writer &out, auto &) { out.fail(); }));
    EXPECT_TRUE(is_made([](writer &out, auto &at) { out.text("abc", at.text, 3); }));
    EXPECT_FALSE(is_made([](writer &out, auto &at) { out.text("abcd", at.text, 3); }));
    EXPECT_FALSE(is_made([](writer &out, auto &at) { out.until("a\rb", "\r", 9, at.text); }));
    EXPECT_FALSE(is_made([](writer &out, auto &at) { out.digits(40'000, 10, at.number); }));
    EXPECT_TRUE(is_made([](writer &out, auto &) { out.integer<std::int32_t, 3, std::endian::big>(-8'388'608); }));
    EXPECT_FALSE(is_made([](writer &out, auto &) { out.integer<std::int32_t, 3, std::endian::big>(8'388'608); }));
    EXPECT_FALSE(is_made([](writer &out, auto &) { out.bits(8, 3); }));
    // As long as it may be, and a byte longer.
    EXPECT_TRUE(is_made([](writer &out, auto &at) { out.part(std::string(39, 'x'), at.inner); }));
    EXPECT_FALSE(is_made([](writer &out, auto &at) { out.part(std::string(40, 'x'), at.inner); }));
}

// The writer of any message grows; it notes the same.
TEST(message_writer, notes_the_same_without_room)
{
    letter::places at;
    flux::message_writer out;
    out.part("", at.inner);
    EXPECT_EQ(at.inner.whole.begin, at.inner.whole.end);
    out.text(std::string(20, 'x'), at.text);
    out.part("abc", at.inner);
    const auto made = out.made<letter>(at);
    ASSERT_TRUE(made.has_value());
    EXPECT_EQ((*made).of((*made).at().inner.whole), "abc");
}

} // namespace
