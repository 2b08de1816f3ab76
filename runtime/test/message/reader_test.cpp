#include "flux/message/reader.hpp"

#include "../support/lack_of_memory.hpp"
#include "flux/message/formula.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace std::string_view_literals;

namespace {

// A message as the compiler would write it: a kind, a number in digits, lines up to an empty one, and messages inside.
struct line {
    struct places : flux::message_places {
        flux::message_part text;
    };
    template <class Cursor>
    static const char *parse(Cursor in, places &at) noexcept
    {
        return in.literal("-"sv) && in.until(at.text, "\r\n"sv, 10, "text") ? in.next() : nullptr;
    }
};

struct tree {
    struct places : flux::message_places {
        std::uint32_t count = 0;
        flux::message_parts children;
        flux::message_parts lines;
        flux::message_part rest;
    };
    static constexpr flux::message_facts facts{"tree", 1000, false, false, true};

    template <class Cursor>
    static const char *parse(Cursor in, places &at) noexcept
    {
        if (!in.has(1)) {
            return in.missing(1, "kind");
        }
        if (in.next()[0] != 't') {
            return in.wrong("kind", in.not_required);
        }
        in.skip(1);
        if (!in.digits(at.count, 10, "count") || !in.literal(":"sv)) {
            return nullptr;
        }
        const auto children = [&] { return in.times(at.children, flux::kind<tree>(), at.count, "children"); };
        if (!in.within_depth(0, 3, "children", children)) {
            return nullptr;
        }
        return in.list_until(at.lines, flux::kind<line>(), "."sv, 2, "lines") ? in.next() : nullptr;
    }
};

// One without bytes.
struct nothing {
    struct places : flux::message_places {
    };
    static constexpr flux::message_facts facts{"nothing", 10};

    template <class Cursor>
    static const char *parse(Cursor in, places &) { return in.next(); }
};

struct outcome {
    flux::reading what;
    std::size_t size;
    tree::places at;
    std::string fault;
};

outcome read(std::string_view bytes, const std::vector<std::size_t> &arrivals, bool is_end = false)
{
    flux::unfinished_message unfinished;
    outcome got{};
    for (const std::size_t size : arrivals) {
        flux::message_reader in(bytes.substr(0, size), is_end && size == bytes.size(), unfinished);
        got.what = in.read<tree>(got.at);
        got.size = in.size();
        if (got.what == flux::reading::wrong) {
            got.fault = std::to_string(in.fault().offset) + " " + in.fault().field() + ": " + in.fault().text;
        }
        if (got.what != flux::reading::unfinished) {
            break;
        }
        EXPECT_GE(in.wanted(), 1u);
    }
    return got;
}

std::vector<std::size_t> one_by_one(std::size_t size)
{
    std::vector<std::size_t> all;
    for (std::size_t at = 0; at <= size; ++at) {
        all.push_back(at);
    }
    return all;
}

constexpr std::string_view nested = "t2:t1:t0:-deep\r\n.-a\r\n-b\r\n.t0:-last\r\n.-\r\n.";

TEST(message_reader, reads_what_is_there_at_once)
{
    const outcome got = read(nested, {nested.size()});
    EXPECT_EQ(got.what, flux::reading::whole);
    EXPECT_EQ(got.size, nested.size());
    EXPECT_EQ(got.at.children.count, 2u);
    EXPECT_EQ(got.at.lines.count, 1u);
    EXPECT_EQ(nested.substr(got.at.lines.begin, got.at.lines.end - got.at.lines.begin), "-\r\n");
}

TEST(message_reader, goes_on_wherever_bytes_were_missing)
{
    const outcome whole = read(nested, {nested.size()});
    EXPECT_EQ(read(nested, one_by_one(nested.size())).size, whole.size);
    for (std::size_t split = 0; split <= nested.size(); ++split) {
        const outcome got = read(nested, {split, nested.size()});
        EXPECT_EQ(got.what, flux::reading::whole) << split;
        EXPECT_EQ(got.at.children.next, whole.at.children.next) << split;
        EXPECT_EQ(got.at.lines.begin, whole.at.lines.begin) << split;
    }
}

TEST(message_reader, says_where_and_in_which_field_bytes_are_wrong)
{
    EXPECT_EQ(read("t1:x", {4}).fault, "3 tree.children.[0].kind: this is not what is required");
    EXPECT_EQ(read("t0:-12345678901\r\n.", {18}).fault,
              "4 tree.lines.[0].text: it has more bytes than it may have");
    EXPECT_EQ(read("t0:-a\r\n-b\r\n-c\r\n.", {17}).fault, "11 tree.lines: there are more elements than there may be");
    EXPECT_EQ(read("t5000000000:", {12}).fault, "1 tree.count: this value does not fit its type");
    EXPECT_EQ(read("t1:t1:t1:t1:t1:", {15}).fault,
              "12 tree.children.[0].children.[0].children.[0].children: it is in itself more often than it may be");
    EXPECT_EQ(read("t1:t0", {5}, true).fault, "5 tree.children.[0]: the data ends too early");
}

// What has come is not looked at again and again: each arrival costs a bounded number of steps.
TEST(message_reader, passes_over_what_it_has_read)
{
    flux::unfinished_message unfinished;
    tree::places at;
    const std::string_view begun = "t2:t0:-first\r\n.t0:-second";
    flux::message_reader in(begun, false, unfinished);
    ASSERT_EQ(in.read<tree>(at), flux::reading::unfinished);
    // Bytes that were read may be anything now: nobody looks.
    std::string changed(begun);
    changed.replace(6, 9, 9, '?');
    changed += "\r\n..";
    flux::message_reader again(changed, false, unfinished);
    EXPECT_EQ(again.read<tree>(at), flux::reading::whole);
}

// One without bytes is there before any have come, wherever they would be.
TEST(message_reader, reads_a_message_without_bytes)
{
    flux::unfinished_message unfinished;
    nothing::places at;
    flux::message_reader in({}, false, unfinished);
    EXPECT_EQ(in.read<nothing>(at), flux::reading::whole);
    EXPECT_EQ(in.size(), 0U);
}

// A message that is there at once takes no memory.
TEST(message_reader, allocates_nothing)
{
    flux::unfinished_message unfinished;
    tree::places at;
    flux::message_reader in("t2:t0:-first\r\n.t0:-second\r\n..", false, unfinished);
    const lack_of_memory none;
    EXPECT_EQ(in.read<tree>(at), flux::reading::whole);
}

// Where an element of a list is open, its places are kept until more has come.
TEST(message_reader, says_that_there_is_no_memory_to_go_on_later)
{
    constexpr std::string_view bytes = "t2:t0:-first\r\n.t0:-second\r\n..";
    flux::unfinished_message unfinished;
    tree::places at;
    flux::message_reader in(bytes.substr(0, 12), false, unfinished);
    {
        const lack_of_memory none;
        EXPECT_EQ(in.read<tree>(at), flux::reading::no_memory);
        EXPECT_EQ(in.ahead(), nullptr);
    }
    unfinished.clear();
    at = {};
    flux::message_reader again(bytes, false, unfinished);
    EXPECT_EQ(again.read<tree>(at), flux::reading::whole);
}

// A text is scanned from each of its bytes on, and the bytes before are of the message, too.
TEST(byte_set, ends_at_the_first_byte_that_is_not_in_it)
{
    using few_gaps = flux::byte_set<"\001-\t\013-\377">;
    using few_ranges = flux::byte_set<"a-cx">;
    // Its widest ranges are compared, the others looked up.
    using many_of_both = flux::byte_set<"#-'*+.0-9A-Z^-z|~-">;
    using table = flux::byte_set<"acegikmoq">;
    for (std::size_t size = 0; size < 70; ++size) {
        for (std::size_t stop = 0; stop <= size; ++stop) {
            std::string text(size, 'a');
            if (stop < size) {
                text[stop] = '\n';
            }
            const char *const end = text.data() + size;
            const char *const found = text.data() + stop;
            for (const std::size_t begin : {std::size_t{0}, stop / 2, stop}) {
                const char *const from = text.data() + begin;
                EXPECT_EQ(few_gaps::skip(text.data(), from, end), found);
                EXPECT_EQ(few_ranges::skip(text.data(), from, end), found);
                EXPECT_EQ(many_of_both::skip(text.data(), from, end), found);
                EXPECT_EQ(table::skip(text.data(), from, end), found);
                EXPECT_EQ(flux::find_byte(text.data(), from, end, '\n'), found);
            }
        }
    }
}

TEST(byte_set, has_the_bytes_that_are_named)
{
    using name = flux::byte_set<"#-'*+.0-9A-Z^-z|~-">;
    const std::string_view named = "#$%&'*+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ^_`abcdefghijklmnopqrstuvwxyz|~";
    for (unsigned byte = 0; byte < 256; ++byte) {
        const char one = static_cast<char>(byte);
        EXPECT_EQ(name::contains(one), named.find(one) != std::string_view::npos) << byte;
        const std::string many(20, one);
        const char *const end = many.data() + many.size();
        EXPECT_EQ(name::skip(many.data(), many.data(), end) == end, name::contains(one)) << byte;
    }
}

TEST(formula, texts_are_compared_but_for_capitals)
{
    EXPECT_TRUE(flux::formula::is_in_lower<"content-length">("Content-LENGTH"));
    EXPECT_TRUE(flux::formula::is_in_lower<"host">("HOST"));
    EXPECT_TRUE(flux::formula::is_in_lower<"eight-by">("Eight-By"));
    EXPECT_TRUE(flux::formula::is_in_lower<"">(""));
    EXPECT_FALSE(flux::formula::is_in_lower<"content-length">("content\rlength"));
    EXPECT_FALSE(flux::formula::is_in_lower<"content-length">("content-lengti"));
    EXPECT_FALSE(flux::formula::is_in_lower<"content-length">("Content-Length "));
    // These differ from letters by the same bit, and are none.
    EXPECT_FALSE(flux::formula::is_in_lower<"a`{">("A@["));
    EXPECT_EQ(flux::formula::trim(" \t a b\r\n"), "a b");
    EXPECT_EQ(flux::formula::trim(" \v\f"), "");
}

TEST(wire, integers_and_bits_are_decoded)
{
    const char *const bytes = "\x81\x02\x03\xff\xfe\x06\x07\x08\x09";
    EXPECT_EQ((flux::wire::big<std::uint32_t, 3>(bytes)), 0x810203u);
    EXPECT_EQ((flux::wire::big<std::int32_t, 3>(bytes)), 0x810203 - 0x1000000);
    EXPECT_EQ((flux::wire::little<std::uint32_t, 3>(bytes)), 0x030281u);
    EXPECT_EQ((flux::wire::little<std::int16_t>(bytes + 3)), static_cast<std::int16_t>(0xfeff));
    EXPECT_EQ((flux::wire::big<std::uint64_t>(bytes)), 0x810203fffe060708u);
    EXPECT_EQ((flux::wire::bits<std::uint8_t, 0, 1>(bytes)), 1);
    EXPECT_EQ((flux::wire::bits<std::uint16_t, 4, 12>(bytes)), 0x102);
    EXPECT_EQ((flux::wire::bits<std::uint64_t, 4, 64>(bytes)), 0x10203fffe0607080u);
}

} // namespace
