/// \file
/// A message: the bytes that it is on the wire, in one piece. The class of each message that a program declares is
/// derived from this one, and finds its fields in these bytes.
///
/// A message never changes. Copies share its bytes, so that to pass it on costs nothing, and what leaves is what came.
/// One whose class nobody asks for is passed on as a `flux::message`.
#pragma once

#include "flux/message/bytes.hpp"

#include <compare>
#include <cstddef>
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
};

/// Bytes that are a message.
class message
{
  public:
    /// No message yet; it has no bytes.
    message() noexcept = default;
    explicit message(message_bytes bytes) noexcept : bytes_(std::move(bytes)) {}

    /// All its bytes.
    std::string_view wire() const noexcept { return bytes_.view(); }

    /// The same, to be shared.
    const message_bytes &bytes() const noexcept { return bytes_; }

    /// Messages are compared by their bytes.
    friend bool operator==(const message &one, const message &other) noexcept { return one.wire() == other.wire(); }
    friend std::strong_ordering operator<=>(const message &one, const message &other) noexcept
    {
        return one.wire() <=> other.wire();
    }

  private:
    message_bytes bytes_;
};

} // namespace flux
