/// \file
/// A message: the bytes that it is on the wire, in one piece. The class of each message that a program declares is
/// derived from this one, and finds its fields in these bytes.
///
/// A message that is a field of another is a part of the same bytes.
///
/// A message never changes. Copies share its bytes, so that to pass it on costs nothing, and what leaves is what came.
/// One whose class nobody asks for is passed on as a `flux::message`.
#pragma once

#include "flux/message/bytes.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace flux {

/// What all messages of one class have in common.
struct message_facts {
    /// Its name with its module, `memcached.command`.
    const char *name;
    /// How many bytes one of them may have.
    std::size_t max_size;
    /// Whether it may have a `&stream`.
    bool has_streams = false;
    /// Whether it may not have more inside another message either.
    bool is_bounded_inside = false;
    /// Whether it may have itself in it, at any depth: such messages are counted while they are read.
    bool is_in_itself = false;
    /// Whether whoever reads one quickly sets all of its places, which need no values before: all of its parts have
    /// sizes that are known before them.
    bool is_sized = false;
};

/// Where a text or a nested message is: from one byte to before another.
struct message_part {
    std::uint32_t begin = 1;
    std::uint32_t end = 0;

    /// Offsets have 32 bits.
    static constexpr std::size_t most_bytes = std::numeric_limits<std::uint32_t>::max();

    /// Whether it has been found: until then it ends before it begins.
    bool is_read() const noexcept { return begin <= end; }

    /// Its text in the message with this first byte.
    std::string_view of(const char *bytes) const noexcept { return {bytes + begin, std::size_t{end} - begin}; }

    bool operator==(const message_part &) const = default;
};

/// Bytes that are a message. It has less than 4 GiB.
class message
{
  public:
    /// No message yet; it has no bytes.
    message() noexcept = default;
    /// All of these.
    explicit message(message_bytes bytes) noexcept
        : bytes_(std::move(bytes)), end_(static_cast<std::uint32_t>(bytes_.size()))
    {
    }
    /// Those of these from `begin` to before `end`.
    message(message_bytes bytes, std::size_t begin, std::size_t end) noexcept
        : bytes_(std::move(bytes)), begin_(static_cast<std::uint32_t>(begin)), end_(static_cast<std::uint32_t>(end))
    {
    }

    /// All its bytes; where its streams are to come (`stream`), those before the first of them.
    std::string_view wire() const noexcept
    {
        // What there is to know is here: the bytes, which may be far from the processor, are not looked at.
        const char *const first = first_byte();
        return first == nullptr ? std::string_view() : std::string_view(first + begin_, end_ - begin_);
    }

    /// Those of the message that it is a field of, with its own among them.
    const message_bytes &bytes() const noexcept { return bytes_; }

    /// Gives them away: it has none any more.
    message_bytes release() noexcept { return std::move(bytes_); }

    /// Its `&stream` fields, where it was received and has some that are not empty (`message_stream.hpp`); else null.
    /// They belong to the outermost message.
    std::shared_ptr<message_stream> stream() const noexcept { return bytes_.stream(); }

    /// Messages are compared by their bytes.
    friend bool operator==(const message &one, const message &other) noexcept { return one.wire() == other.wire(); }
    friend std::strong_ordering operator<=>(const message &one, const message &other) noexcept
    {
        return one.wire() <=> other.wire();
    }

  protected:
    /// Where those of the outermost message begin; null where there are none.
    const char *first_byte() const noexcept { return bytes_.view().data(); }

    /// The text of a part.
    std::string_view view(const message_part &part) const noexcept { return part.of(first_byte()); }

  private:
    message_bytes bytes_;
    std::uint32_t begin_ = 0;
    std::uint32_t end_ = 0;
};

} // namespace flux
