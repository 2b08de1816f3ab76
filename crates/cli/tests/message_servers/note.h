// A class of messages in the shape of those that the compiler generates: the byte `!`, the number of bytes of a text,
// in four bytes, the highest first, and the text.
#pragma once

#include "flux/message.hpp"
#include "flux/message/reader.hpp"

#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>

class note : public flux::message
{
  public:
    struct places : flux::message_places {
        flux::message_part text;
    };

    static constexpr flux::message_facts facts{"notes.note", 1 << 20};

    note() noexcept = default;
    note(flux::message_bytes bytes, const places &at) noexcept : flux::message(std::move(bytes)), at_(at) {}

    template <class Cursor>
    static const char *parse(Cursor in, places &at)
    {
        if (!in.literal("!", "mark")) {
            return nullptr;
        }
        if (!in.has(4)) {
            return in.missing(4, "size");
        }
        const auto size = flux::wire::big<std::uint32_t>(in.next());
        in.skip(4);
        const char *const begin = in.next();
        if (!in.text(at.text, size, "text", facts.max_size - 5)) {
            return nullptr;
        }
        // As a formula that makes a text.
        return std::string_view(begin, size) != "costly" ? in.next() : throw std::bad_alloc();
    }

    std::string_view text() const noexcept { return wire().substr(at_.text.begin, at_.text.end - at_.text.begin); }

    /// The note of this text.
    static note of(std::string_view text)
    {
        std::string wire = "!";
        for (int shift = 24; shift >= 0; shift -= 8) {
            wire += static_cast<char>(text.size() >> shift);
        }
        wire += text;
        places at;
        at.text = {5, static_cast<std::uint32_t>(wire.size())};
        return {flux::message_bytes::copy_of(std::as_bytes(std::span(wire))), at};
    }

  private:
    places at_;
};
