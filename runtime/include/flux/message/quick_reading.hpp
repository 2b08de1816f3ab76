/// \file
/// The reading of a message that most likely is there as a whole, and right, as most are: it says only whether it is.
/// Nothing is remembered, nobody is told what is wrong, and all of its state is on the stack of its function. What it
/// refuses is read again by a `message_reader`, from the first byte on; or from a stream on before which it has
/// stopped.
#pragma once

#include "flux/message.hpp"
#include "flux/message/byte_set.hpp"
#include "flux/message/cursor.hpp"
#include "flux/message/depths.hpp"
#include "flux/message/fault.hpp"
#include "flux/message/places.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <span>
#include <string_view>

namespace flux {

/// What comes of a quick reading.
struct quick_outcome {
    /// The byte after the message; null where it is to be read with care.
    const char *after;
    /// Whether it is to be read on with care from where a stream begins: the places of all before that have been found.
    /// Else it is to be read from its first byte on, with new places.
    bool stops_at_stream;
};

/// One reading of bytes that are all there. What ends it is one thing to it: there is no such message.
class quick_reading
{
  public:
    /// Reads the message that begins at this byte of these, and whose places are as new but for its parameters. Where
    /// streams are kept, they are read as other bytes, as all is in memory; else the reading stops before the first
    /// that has any.
    template <class Message>
    [[gnu::always_inline]] static quick_outcome
    read(std::string_view bytes, std::size_t begin, bool keeps_streams, typename Message::places &at) noexcept;

    /// The same of a part of a message that has been read before, which is known to be right, and which ends with these
    /// bytes; gives the offset of the byte after it.
    template <class Unit>
    static std::uint32_t read_again(std::string_view bytes, std::size_t begin, typename Unit::places &at)
    {
        quick_reading reading(bytes, true, true);
        return reading.offset_of(Unit::parse(cursor_of(reading, bytes.data() + begin), at));
    }

    quick_reading(const quick_reading &) = delete;
    quick_reading &operator=(const quick_reading &) = delete;

  private:
    template <class>
    friend class cursor_of;

    quick_reading(std::string_view bytes, bool keeps_streams, bool is_known) noexcept
        : bytes_(bytes.data()), end_(bytes.data() + bytes.size()), keeps_streams_(keeps_streams), is_known_(is_known),
          in_region_(is_known)
    {
    }

    static constexpr bool tells = false;
    static constexpr bool resumes_ = false;

    struct region {
        const char *end;
        bool is_field;
    };

    // What is to be said of a run that ends where all bytes do, or is too short or too long.
    struct run_facts {
        bool (*contains)(char);
        std::size_t least;
        std::uint64_t most;
    };

    std::uint32_t offset_of(const char *next) const noexcept { return static_cast<std::uint32_t>(next - bytes_); }
    region here() const noexcept { return {end_, in_region_}; }
    static bool is_over(const char *) noexcept { return false; }
    int peek_beyond(const char *) const noexcept { return in_region_ ? no_byte::at_end : no_byte::not_here; }

    bool enter(const char *next, std::uint64_t size, const char *) noexcept
    {
        if (size > static_cast<std::size_t>(end_ - next)) [[unlikely]] {
            return false;
        }
        end_ = next + size;
        in_region_ = true;
        return true;
    }
    bool leave(const char *next, const region &outer, const char *) noexcept { return next == end_ && restore(outer); }
    bool restore(const region &outer) noexcept
    {
        end_ = outer.end;
        in_region_ = outer.is_field;
        return true;
    }
    bool enter_bounded(const char *next, std::size_t most) noexcept
    {
        // What is known has no more than it may have; and the byte behind it may be what ends it.
        if (is_known_ || most >= static_cast<std::size_t>(end_ - next)) {
            return false;
        }
        end_ = next + most;
        in_region_ = false;
        return true;
    }
    void enter_back(std::size_t end) noexcept
    {
        end_ = bytes_ + end;
        in_region_ = true;
    }

    const char *until(const char *next, message_part &part, std::string_view terminator, std::uint64_t most,
                      const char *) const noexcept
    {
        const char *from = next;
        while ((from = find_byte(bytes_, from, end_, terminator[0])) != end_) {
            if (static_cast<std::size_t>(end_ - from) < terminator.size() ||
                static_cast<std::uint64_t>(from - next) > most) [[unlikely]] {
                return nullptr;
            }
            if (std::memcmp(from, terminator.data(), terminator.size()) == 0) [[likely]] {
                part = {offset_of(next), offset_of(from)};
                return from + terminator.size();
            }
            ++from;
        }
        return nullptr;
    }

    // Up to the end of a field: where all bytes end is not known.
    const char *rest(const char *next, message_part &part, std::uint64_t most, const char *) const noexcept
    {
        if (!in_region_ || static_cast<std::uint64_t>(end_ - next) > most) {
            return nullptr;
        }
        part = {offset_of(next), offset_of(end_)};
        return end_;
    }

    const char *run_ends(message_part &part, const char *begin, const char *end, const run_facts &run,
                         const char *) const noexcept
    {
        const auto size = static_cast<std::size_t>(end - begin);
        if (!in_region_ || end != end_ || size < run.least || size > run.most) {
            return nullptr;
        }
        part = {offset_of(begin), offset_of(end)};
        return end;
    }

    bool keeps_streams() const noexcept { return keeps_streams_; }
    const char *stream(const char *next, message_part &part, std::uint64_t size, const char *, std::uint64_t) noexcept
    {
        if (size > 0) {
            stops_ = true;
            return nullptr;
        }
        part = {offset_of(next), offset_of(next)};
        return next;
    }
    const char *stream_rest(const char *next, message_part &part, std::uint64_t most, const char *field) noexcept
    {
        if (keeps_streams()) {
            return rest(next, part, most, field);
        }
        stops_ = true;
        return nullptr;
    }

    // Where an element has begun, it is read again as a whole.
    template <class Places>
    void keep(const Places &) noexcept
    {
        stops_ = false;
    }
    template <class Places>
    static void take(Places &) noexcept
    {
    }
    static bool removes_elements() noexcept { return false; }
    static const char *remove_from(std::size_t, const char *next) noexcept { return next; }
    static const char *scan_begin(const char *begin) noexcept { return begin; }
    static int token_state(const char *, const char *) noexcept { return 0; }

    static void end_missing(const char *, std::uint64_t, const char *) noexcept {}
    static void end_missing(const char *, std::span<const field_size>) noexcept {}
    static void end_wrong(std::size_t, const char *, const char *) noexcept {}
    static void end_within(const char *, std::size_t) noexcept {}
    static void end_undecided(const char *) noexcept {}
    static void end_in_token(const char *, const char *, int, const char *) noexcept {}
    static void end_in_digits(const char *, const char *) noexcept {}
    static void end_with(const char *, const char *) noexcept {}
    static void end_literal(const char *, std::string_view, const char *) noexcept {}

    const char *bytes_;
    // After the last byte of what is read.
    const char *end_;
    // What a look back must be before.
    std::uint32_t floor_ = message_part::most_bytes;
    bool keeps_streams_;
    bool is_known_;
    // Whether `end_` is the end of a field; else there may be more bytes.
    bool in_region_;
    bool stops_ = false;
    std::uint8_t depth_ = 0;
    field_depths depths_;
};

/// Goes along a message that is read so.
using quick_cursor = cursor_of<quick_reading>;

template <class Message>
[[gnu::always_inline]] inline quick_outcome
quick_reading::read(std::string_view bytes, std::size_t begin, bool keeps_streams,
                    typename Message::places &at) noexcept
{
    constexpr std::size_t most = std::min(Message::facts.max_size, message_part::most_bytes);
    quick_reading in(bytes.substr(0, begin + most), keeps_streams, false);
    try {
        const char *const after = Message::parse(quick_cursor(in, bytes.data() + begin), at);
        if (after != nullptr) [[likely]] {
            static_cast<message_places &>(at).whole = {static_cast<std::uint32_t>(begin), in.offset_of(after)};
        }
        return {after, in.stops_};
    } catch (const std::bad_alloc &) {
        // A formula makes a text. Who reads it with care tells of that.
        return {nullptr, false};
    }
}

/// Reads a message quickly that begins with the first of these bytes, as `quick_reading::read` does: by the function
/// that its class has for that, which has all in it, or by one that calls the functions of the messages inside.
template <class Message>
[[gnu::always_inline]] inline quick_outcome
read_quickly(std::string_view bytes, bool keeps_streams, typename Message::places &at) noexcept
{
    if constexpr (requires { Message::read_quickly(bytes, keeps_streams, at); }) {
        return Message::read_quickly(bytes, keeps_streams, at);
    } else {
        return quick_reading::read<Message>(bytes, 0, keeps_streams, at);
    }
}

/// Finds the places in a message that was read before, as a part of the message that `bytes` are, from `begin` on;
/// gives where it ends.
template <class Unit>
[[gnu::always_inline]] inline std::size_t find_again(std::string_view bytes, std::size_t begin,
                                                     typename Unit::places &at)
{
    std::uint32_t end = 0;
    if constexpr (requires { Unit::find(bytes, begin, at); }) {
        end = Unit::find(bytes, begin, at);
    } else {
        end = quick_reading::read_again<Unit>(bytes, begin, at);
    }
    static_cast<message_places &>(at).whole = {static_cast<std::uint32_t>(begin), end};
    return end;
}

} // namespace flux
