/// \file
/// Goes along the bytes of a message that has been read before, for the code that is generated to find its fields
/// again: so elements of lists are found while somebody goes through them. The bytes are known to be such a message, so
/// nothing is asked of them, and a text ends at the byte that must follow it.
#pragma once

#include "flux/message.hpp"
#include "flux/message/byte_set.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace flux {

/// The next byte of a message that is known.
class known_cursor
{
  public:
    /// At an offset of these bytes, which begin with the outermost message.
    known_cursor(std::string_view bytes, std::size_t begin) noexcept
        : bytes_(bytes.data()), end_(bytes.data() + bytes.size()), next_(bytes.data() + begin)
    {
    }

    /// The first byte of the outermost message.
    const char *bytes() const noexcept { return bytes_; }

    /// The offset of the next byte.
    std::uint32_t position() const noexcept { return static_cast<std::uint32_t>(next_ - bytes_); }

    /// The text of a part.
    std::string_view view(const message_part &part) const noexcept
    {
        return {bytes_ + part.begin, part.end - part.begin};
    }

    /// Goes over so many bytes.
    void skip(std::size_t count) noexcept { next_ += count; }

    /// So many bytes.
    [[gnu::always_inline]] void text(message_part &part, std::uint64_t size) noexcept
    {
        const char *const begin = std::exchange(next_, next_ + size);
        part = part_from(begin);
    }

    /// Where the next byte is that is `last`.
    [[gnu::always_inline]] const char *end_at(char last) const noexcept
    {
        return find_byte(bytes_, next_, end_, last);
    }

    /// The bytes up to there.
    [[gnu::always_inline]] void until(message_part &part, const char *end) noexcept
    {
        const char *const begin = std::exchange(next_, end);
        part = part_from(begin);
    }

    /// As many bytes of this set as there are.
    template <class Set>
    [[gnu::always_inline]] void run(message_part &part, Set) noexcept
    {
        const char *const begin = std::exchange(next_, Set::skip(bytes_, next_, end_));
        part = part_from(begin);
    }

  private:
    [[gnu::always_inline]] message_part part_from(const char *begin) const noexcept
    {
        return {static_cast<std::uint32_t>(begin - bytes_), position()};
    }

    const char *bytes_;
    const char *end_;
    const char *next_;
};

} // namespace flux
