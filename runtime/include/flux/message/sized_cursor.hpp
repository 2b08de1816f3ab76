/// \file
/// The quick reading of a message whose parts all have sizes that are known before them: fixed ones, or those that its
/// integers say. Nothing is looked for in it, so its reader goes along in offsets, which are what it notes; and it sets
/// all places, so that they need no values before.
#pragma once

#include "flux/message.hpp"
#include "flux/message/cursor.hpp"
#include "flux/message/fault.hpp"
#include "flux/message/places.hpp"
#include "flux/message/quick_reading.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>

namespace flux {

/// The next byte of such a message, which begins with the first byte. As `quick_reading`, it says only whether there
/// is a message. The functions are those of `cursor_of`.
class sized_cursor
{
  public:
    /// Reads the message that begins with these bytes. Its places may have any values before.
    template <class Message>
    [[gnu::always_inline]] static quick_outcome read(std::string_view bytes, typename Message::places &at) noexcept
    {
        constexpr std::size_t most = std::min(Message::facts.max_size, message_part::most_bytes);
        try {
            const char *const after = Message::parse(sized_cursor(bytes), at);
            const auto size = static_cast<std::size_t>(after - bytes.data());
            if (after == nullptr || size > most) [[unlikely]] {
                return {nullptr, false};
            }
            static_cast<message_places &>(at).whole = {0, static_cast<std::uint32_t>(size)};
            return {after, false};
        } catch (const std::bad_alloc &) {
            // A formula makes a text. Who reads it with care tells of that.
            return {nullptr, false};
        }
    }

    const char *bytes() const noexcept { return bytes_.data(); }
    const char *next() const noexcept { return bytes_.data() + next_; }
    std::uint32_t position() const noexcept { return static_cast<std::uint32_t>(next_); }
    std::string_view view(const message_part &part) const noexcept { return part.of(bytes_.data()); }

    [[gnu::always_inline]] bool has(std::uint64_t count) const noexcept { return count <= bytes_.size() - next_; }
    [[gnu::always_inline]] static bool has(std::uint64_t, bool all_here) noexcept { return all_here; }
    void skip(std::size_t count) noexcept { next_ += count; }

    template <class Choice, class... Places>
    [[gnu::always_inline]] static void take(Choice &choice, unsigned way, Places &...own) noexcept
    {
        choice = static_cast<Choice>(way);
        (static_cast<void>(new (static_cast<void *>(&own)) Places), ...);
    }

    [[gnu::always_inline]] bool text(message_part &part, std::uint64_t size, const char *,
                                     std::uint64_t most = message_part::most_bytes) noexcept
    {
        // So the sum below is none that is too large for its type.
        if (size > std::min<std::uint64_t>(most, message_part::most_bytes)) [[unlikely]] {
            return false;
        }
        const std::uint64_t end = next_ + size;
        if (end > bytes_.size()) [[unlikely]] {
            return false;
        }
        part = {position(), static_cast<std::uint32_t>(end)};
        next_ = end;
        return true;
    }

    template <class Unit>
    [[gnu::always_inline]] bool sized(places_of<Unit> &at, std::uint64_t size, std::size_t always,
                                      const char *field) noexcept
    {
        return size == always && text(at.whole, always, field);
    }

    static const char *missing(std::uint64_t, const char *) noexcept { return nullptr; }
    template <std::size_t Count>
    static const char *missing(const field_size (&)[Count]) noexcept
    {
        return nullptr;
    }
    static const char *wrong(const char *, const char *, std::size_t = 0) noexcept { return nullptr; }
    static const char *wrong_at(std::size_t, const char *, const char *) noexcept { return nullptr; }

    // Nobody is told.
    static constexpr const char *not_required = "";
    static constexpr const char *does_not_fit = "";
    static constexpr const char *no_case = "";

  private:
    explicit sized_cursor(std::string_view bytes) noexcept : bytes_(bytes) {}

    std::string_view bytes_;
    // At most the number of the bytes.
    std::uint64_t next_ = 0;
};

} // namespace flux
