#include "flux/message/typed_parse.hpp"

#include "../support/note_message.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace {

using state = flux::message_parse::state;

// What its formula makes needs memory, of which there is none for `?`.
class costly : public flux::message
{
  public:
    struct places : flux::message_places {
    };

    static constexpr flux::message_facts facts{"test.costly", 8};

    costly() noexcept = default;
    costly(flux::message_bytes bytes, const places &) noexcept : flux::message(std::move(bytes)) {}

    template <class Cursor>
    static const char *parse(Cursor in, places &)
    {
        if (!in.has(1)) {
            return in.missing(1, "text");
        }
        if (*in.next() == '?') {
            throw std::bad_alloc();
        }
        in.skip(1);
        return in.literal(".") ? in.next() : nullptr;
    }
};

// The message of a parse that is whole.
note message_of(flux::typed_parse<note> &whole, std::string_view bytes)
{
    whole.bytes = flux::message_bytes::copy_of(std::as_bytes(std::span(bytes.substr(0, whole.size()))));
    return whole.message();
}

TEST(TypedParse, ReadsOneMessageAfterTheOther)
{
    flux::typed_parse<note> parse;
    EXPECT_STREQ(parse.facts().name, "test.note");
    for (const std::string text : {"one", "", "a third one"}) {
        const std::string bytes = note::wire_of(text);
        ASSERT_EQ(parse.read(bytes + "and more", false), state::whole);
        EXPECT_EQ(parse.size(), bytes.size());
        EXPECT_EQ(message_of(parse, bytes).text(), text);
    }
}

TEST(TypedParse, ReadsOnWhereverItIsCutAndKept)
{
    const std::string bytes = note::wire_of("some text");
    for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
        flux::typed_parse<note> parse;
        ASSERT_EQ(parse.read(std::string_view(bytes).substr(0, cut), false), state::unfinished);
        EXPECT_EQ(parse.wanted(), cut < 2 ? 1 : bytes.size() - cut);
        const std::unique_ptr<flux::message_parse> kept = parse.keep();
        EXPECT_EQ(kept->wanted(), cut < 2 ? 1 : bytes.size() - cut);
        ASSERT_EQ(parse.read(note::wire_of("another"), false), state::whole) << "meanwhile";
        ASSERT_EQ(kept->read(bytes, false), state::whole);
        parse.take_over(*kept);
        EXPECT_EQ(message_of(parse, bytes).text(), "some text");
    }
}

TEST(TypedParse, SaysWhatIsWrong)
{
    flux::typed_parse<note> parse;
    EXPECT_EQ(parse.read("?", false), state::wrong);
    EXPECT_EQ(parse.fault().substr(0, 21), "byte 0, test.note.mar");
    EXPECT_EQ(parse.read("!\3ab", true), state::wrong);
    EXPECT_NE(parse.fault().find("test.note.text: the data ends"), std::string::npos) << parse.fault();
    EXPECT_EQ(parse.read("!", false), state::unfinished);
    const std::unique_ptr<flux::message_parse> kept = parse.keep();
    EXPECT_EQ(kept->read("!\3ab", true), state::wrong);
    parse.take_over(*kept);
    EXPECT_NE(parse.fault().find("test.note.text: the data ends"), std::string::npos) << parse.fault();
    EXPECT_EQ(parse.read(note::wire_of("good"), false), state::whole);
}

TEST(TypedParse, ALackOfMemoryIsNothingWrong)
{
    flux::typed_parse<costly> parse;
    EXPECT_EQ(parse.read("?.", true), state::no_memory);
    EXPECT_EQ(parse.read("a.", true), state::whole);
    EXPECT_EQ(parse.read("a", false), state::unfinished);
    EXPECT_EQ(parse.read("?.", false), state::no_memory);
    EXPECT_EQ(parse.read("b", false), state::unfinished) << "it begins anew";
    EXPECT_EQ(parse.read("b.", false), state::whole);
    EXPECT_EQ(parse.read("a!", false), state::wrong);
}

} // namespace
