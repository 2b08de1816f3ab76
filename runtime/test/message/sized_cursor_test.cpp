#include "flux/message/sized_cursor.hpp"

#include "flux/message/reader.hpp"
#include "flux/message/typed_parse.hpp"

#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <new>
#include <string>
#include <string_view>

using namespace std::string_view_literals;

namespace {

// Two bytes of any values.
struct two_bytes {
    struct places : flux::places_of<two_bytes> {
    };
    static constexpr flux::message_facts facts{.name = "two_bytes", .max_size = 2, .is_sized = true};

    template <class Cursor>
    static const char *parse(Cursor in, places &)
    {
        if (!in.has(2)) {
            return in.missing(2, "two");
        }
        in.skip(2);
        return in.next();
    }
};

// A kind, the size of a text in eight bytes, perhaps two bytes of their own, and the text: as it is generated.
struct sized : flux::message {
    struct places : flux::places_of<sized> {
        std::uint8_t choice = 0;
        two_bytes::places own;
        flux::message_part text;
    };
    static constexpr flux::message_facts facts{.name = "sized", .max_size = 20, .is_sized = true};

    sized(flux::message_bytes bytes, const places &) noexcept : flux::message(std::move(bytes)) {}

    template <class Cursor>
    static const char *parse(Cursor in, places &at)
    {
        if (!in.has(9)) {
            return in.missing(9, "size");
        }
        const char kind = *in.next();
        const auto size = flux::wire::big<std::uint64_t>(in.next() + 1);
        in.skip(9);
        if (kind == '?') {
            throw std::bad_alloc();
        }
        at.choice = 2;
        if (kind == 'o') {
            at.choice = 1;
            if (!in.sized(at.own, 2, 2, "own")) {
                return nullptr;
            }
        }
        if (!in.text(at.text, size, "text")) {
            return nullptr;
        }
        return in.view(at.text) != "no" ? in.next() : in.wrong_at(at.text.begin, "text", in.not_required);
    }
    static flux::reading read(flux::message_reader &in, places &at) noexcept { return in.read<sized>(at); }
    static flux::quick_outcome read_quickly(std::string_view bytes, bool, places &at) noexcept
    {
        return flux::sized_cursor::read<sized>(bytes, at);
    }
};

std::string bytes_of(char kind, std::uint64_t size, std::string_view rest)
{
    std::string bytes(1, kind);
    for (int shift = 56; shift >= 0; shift -= 8) {
        bytes += static_cast<char>(size >> shift);
    }
    return bytes.append(rest);
}

bool is_read(const std::string &bytes, sized::places &at)
{
    // Whatever they were before.
    std::memset(static_cast<void *>(&at), 0xa5, sizeof at);
    const auto [after, stops] = flux::read_quickly<sized>(bytes, true, at);
    return after != nullptr && after == bytes.data() + static_cast<flux::message_places &>(at).whole.end && !stops;
}

TEST(SizedCursor, SetsPlacesThatHadNoValues)
{
    sized::places at;
    ASSERT_TRUE(is_read(bytes_of('t', 3, "onetwo"), at));
    EXPECT_EQ(static_cast<flux::message_places &>(at).whole, (flux::message_part{0, 12}));
    EXPECT_EQ(at.choice, 2);
    EXPECT_EQ(at.text, (flux::message_part{9, 12}));
    ASSERT_TRUE(is_read(bytes_of('o', 0, "xy"), at));
    EXPECT_EQ(at.choice, 1);
    EXPECT_EQ(at.own.whole, (flux::message_part{9, 11}));
    EXPECT_EQ(at.text, (flux::message_part{11, 11}));
}

TEST(SizedCursor, RefusesWhatIsNotThereAsAWhole)
{
    sized::places at;
    const std::string whole = bytes_of('o', 4, "xyfour");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_FALSE(is_read(whole.substr(0, size), at)) << size;
    }
    EXPECT_TRUE(is_read(whole, at));
}

TEST(SizedCursor, RefusesSizesWhoseSumsAreTooLarge)
{
    sized::places at;
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    for (const std::uint64_t size : {most, most - 8, most - 9, most - 10, most / 2, std::uint64_t{1} << 32}) {
        EXPECT_FALSE(is_read(bytes_of('t', size, "text"), at)) << size;
        EXPECT_FALSE(is_read(bytes_of('o', size, "xytext"), at)) << size;
    }
}

TEST(SizedCursor, RefusesWhatIsTooLargeOrWrongOrNeedsMemory)
{
    sized::places at;
    EXPECT_TRUE(is_read(bytes_of('t', 11, "eleven byte"), at));
    EXPECT_FALSE(is_read(bytes_of('t', 12, "twelve bytes"), at));
    EXPECT_FALSE(is_read(bytes_of('t', 2, "no"), at));
    EXPECT_FALSE(is_read(bytes_of('?', 0, ""), at));
}

// What receives messages gives them no values before.
TEST(SizedCursor, IsThatOfWhatReceivesMessages)
{
    flux::typed_parse<sized> parse;
    EXPECT_EQ(parse.read(bytes_of('o', 2, "x"), false), flux::message_parse::state::unfinished);
    EXPECT_EQ(parse.read(bytes_of('o', 2, "xyab"), false), flux::message_parse::state::whole);
    EXPECT_EQ(parse.size(), 13U);
    EXPECT_EQ(parse.read(bytes_of('t', 2, "no"), false), flux::message_parse::state::wrong);
    EXPECT_EQ(parse.fault(), "byte 9, sized.text: this is not what is required");
    EXPECT_EQ(parse.read(bytes_of('t', 0, "more"), false), flux::message_parse::state::whole);
    EXPECT_EQ(parse.size(), 9U);
}

} // namespace
