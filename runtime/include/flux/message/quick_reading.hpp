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

/// One reading of bytes that are all there. What ends it is one thing to it: there is no such message.
class quick_reading
{
  public:
    /// Of these bytes. Where streams are kept, they are read as other bytes, as all is in memory; else the reading stops
    /// before the first that has any. `is_known` says that the bytes have been read before, and that what they are part
    /// of ends with them.
    quick_reading(std::string_view bytes, bool keeps_streams, bool is_known = false) noexcept
        : bytes_(bytes.data()), end_(bytes.data() + bytes.size()), keeps_streams_(keeps_streams), in_region_(is_known)
    {
    }
    quick_reading(const quick_reading &) = delete;
    quick_reading &operator=(const quick_reading &) = delete;

    /// Reads the message that begins at this byte, and whose places are as new but for its parameters; gives the byte
    /// after it. Null where it is to be read with care, with new places.
    template <class Message>
    const char *read(typename Message::places &at, std::size_t begin = 0) noexcept;

    /// Whether what has ended it is a stream: then the places of all that is before that have been found, and it is to
    /// be read on with care from there.
    bool stops_at_stream() const noexcept { return stops_; }

  private:
    template <class>
    friend class cursor_of;

    static constexpr bool tells = false;
    static constexpr bool resumes_ = false;
    static constexpr unsigned most_units = 200;

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
        if (most >= static_cast<std::size_t>(end_ - next)) {
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
    // Whether `end_` is the end of a field; else there may be more bytes.
    bool in_region_;
    bool stops_ = false;
    std::uint8_t depth_ = 0;
    field_depths depths_;
};

/// Goes along a message that is read so.
using quick_cursor = cursor_of<quick_reading>;

template <class Message>
[[gnu::always_inline]] inline const char *quick_reading::read(typename Message::places &at, std::size_t begin) noexcept
{
    constexpr std::size_t most = std::min(Message::facts.max_size, message_part::most_bytes);
    if (static_cast<std::size_t>(end_ - bytes_) > begin + most) [[unlikely]] {
        end_ = bytes_ + begin + most;
    }
    try {
        const char *const after = Message::parse(quick_cursor(*this, bytes_ + begin), at);
        if (after != nullptr) [[likely]] {
            static_cast<message_places &>(at).whole = {static_cast<std::uint32_t>(begin), offset_of(after)};
        }
        return after;
    } catch (const std::bad_alloc &) {
        // A formula makes a text. Who reads it with care tells of that.
        return nullptr;
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
        quick_reading reading(bytes, true, true);
        end = static_cast<std::uint32_t>(Unit::parse(quick_cursor(reading, bytes.data() + begin), at) - bytes.data());
    }
    static_cast<message_places &>(at).whole = {static_cast<std::uint32_t>(begin), end};
    return end;
}

} // namespace flux
