/// \file
/// A class of messages in the shape of those that the compiler generates: the byte `!`, the number of bytes of a text,
/// and the text.
#pragma once

#include "flux/message.hpp"
#include "flux/message/reader.hpp"

#include <string>
#include <string_view>
#include <utility>

class note : public flux::message
{
  public:
    struct places : flux::message_places {
        flux::message_part text;
    };

    static constexpr flux::message_facts facts{"test.note", 257};

    note() noexcept = default;
    note(flux::message_bytes bytes, const places &at) noexcept : flux::message(std::move(bytes)), at_(at) {}

    template <class Cursor>
    static const char *parse(Cursor in, places &at) noexcept
    {
        if (!in.literal("!", "mark")) {
            return nullptr;
        }
        if (!in.has(1)) {
            return in.missing(1, "size");
        }
        const auto size = static_cast<unsigned char>(*in.next());
        in.skip(1);
        return in.text(at.text, size, "text") ? in.next() : nullptr;
    }

    std::string_view text() const noexcept { return wire().substr(at_.text.begin, at_.text.end - at_.text.begin); }

    /// The bytes of one.
    static std::string wire_of(std::string_view text)
    {
        return std::string("!") + static_cast<char>(text.size()) + std::string(text);
    }

  private:
    places at_;
};
