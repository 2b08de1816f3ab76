#include "flux/message/quick_reading.hpp"

#include "flux/message/reader.hpp"

#include <gtest/gtest.h>
#include <string>
#include <string_view>

using namespace std::string_view_literals;

namespace {

// A name, a colon and a value that may have the bytes of both, whose end is looked for beside that of the name.
struct pair {
    struct places : flux::places_of<pair> {
        flux::message_part name;
        flux::message_part value;
        std::int16_t number = 0;
    };
    static constexpr flux::message_facts facts{"pair", 1000};

    using name_bytes = flux::byte_set<"a-z">;
    using value_bytes = flux::byte_set<" -~">;

    template <class Cursor>
    static const char *parse(Cursor in, places &at)
    {
        const char *const value_end = in.run_end(value_bytes());
        if (!in.run(at.name, name_bytes(), 1, 20, "name") || !in.literal(":")) {
            return nullptr;
        }
        if (!in.run(at.value, value_bytes(), 0, 40, "value", value_end) || !in.literal("\n")) {
            return nullptr;
        }
        return in.digits(at.number, 10, "number") && in.literal(";") ? in.next() : nullptr;
    }
};

// Pairs up to a dot, and so many bytes as the number of the last says, which go along.
struct pairs {
    struct places : flux::places_of<pairs> {
        flux::message_parts list;
        std::uint64_t size = 0;
        flux::message_part body;
    };
    static constexpr flux::message_facts facts{"pairs", 1000, true};

    template <class Cursor>
    static const char *parse(Cursor in, places &at)
    {
        const auto each = [&](const pair::places &element) {
            at.size = static_cast<std::uint64_t>(element.number);
            return in.next();
        };
        if (!in.list_until(at.list, flux::kind<pair>(), "."sv, 10, "list", each)) {
            return nullptr;
        }
        return in.stream(at.body, at.size, "body") ? in.next() : nullptr;
    }
};

constexpr std::string_view two = "name:a value: with more than sixteen bytes\n-12;b:\n3;.xyz";

bool is_quick(std::string_view bytes, pairs::places &at, bool keeps_streams)
{
    const char *const after = flux::read_quickly<pairs>(bytes, keeps_streams, at).after;
    return after != nullptr && after == bytes.data() + at.whole.end;
}

TEST(quick_reading, finds_what_a_reader_finds)
{
    pairs::places quick;
    ASSERT_TRUE(is_quick(two, quick, true));
    flux::unfinished_message unfinished;
    unfinished.keep_streams();
    flux::message_reader in(two, false, unfinished);
    pairs::places careful;
    ASSERT_EQ(in.read<pairs>(careful), flux::reading::whole);
    EXPECT_EQ(quick.whole.end, in.size());
    EXPECT_EQ(quick.list.count, careful.list.count);
    EXPECT_EQ(quick.list.next, careful.list.next);
    EXPECT_EQ(quick.body.begin, careful.body.begin);
    EXPECT_EQ(quick.body.end, careful.body.end);
}

TEST(quick_reading, refuses_what_is_not_whole)
{
    for (std::size_t size = 0; size < two.size(); ++size) {
        // Of its own size, so that a sanitizer finds each byte that is looked at too early.
        const std::string bytes(two.substr(0, size));
        pairs::places at;
        EXPECT_FALSE(is_quick(bytes, at, true)) << size;
    }
}

TEST(quick_reading, refuses_what_is_wrong)
{
    for (const std::string_view wrong : {"Name:a\n1;."sv, "name:\x01\n1;."sv, "name:a\n;."sv, "name:a\n1,."sv,
                                         "name:a\n40000;."sv, "namethatislongerthanitmaybe:a\n1;."sv}) {
        pairs::places at;
        EXPECT_FALSE(is_quick(wrong, at, true)) << wrong;
    }
}

// What is before a stream is not read again.
TEST(quick_reading, stops_at_a_stream)
{
    pairs::places at;
    const flux::quick_outcome come = flux::read_quickly<pairs>(two, false, at);
    ASSERT_EQ(come.after, nullptr);
    ASSERT_TRUE(come.stops_at_stream);
    EXPECT_EQ(at.size, 3U);
    EXPECT_TRUE(at.list.is_read);

    flux::unfinished_message unfinished;
    unfinished.open();
    // Bytes that were read may be anything now: nobody looks.
    const std::string changed = std::string(two.size() - 4, '?') + ".xyz";
    flux::message_reader in(changed, false, unfinished);
    ASSERT_EQ(in.read<pairs>(at), flux::reading::unfinished);
    ASSERT_NE(in.ahead(), nullptr);
    EXPECT_EQ(in.ahead()->size, 3U);
    EXPECT_EQ(in.position(), two.size() - 3);
}

// At most three digits, up to a byte that is none, wherever they stand.
struct digits {
    struct places : flux::places_of<digits> {
        flux::message_part text;
    };
    static constexpr flux::message_facts facts{"digits", 3, false, true};

    template <class Cursor>
    static const char *parse(Cursor in, places &at)
    {
        return in.run(at.text, flux::byte_set<"0-9">(), 0, 9, "text") ? in.next() : nullptr;
    }
};

struct digits_in_it {
    struct places : flux::places_of<digits_in_it> {
        digits::places inside;
    };

    template <class Cursor>
    static const char *parse(Cursor in, places &at)
    {
        return in.unit(at.inside, "inside") ? in.next() : nullptr;
    }
};

// What was read before is found again also where it has as many bytes as it may have.
TEST(quick_reading, finds_the_largest_again)
{
    const std::string_view bytes = "<123.>";
    digits_in_it::places at;
    EXPECT_EQ(flux::find_again<digits_in_it>(bytes, 1, at), 4U);
    EXPECT_EQ(at.inside.text.end, 4U);
}

// A stream without bytes is none to stop at.
TEST(quick_reading, passes_over_an_empty_stream)
{
    pairs::places at;
    EXPECT_TRUE(is_quick("a:b\n0;.", at, false));
    EXPECT_EQ(at.body.begin, at.body.end);
}

} // namespace
