/// \file
/// Where something is in a message, beside a part of it: offsets from the first byte of the outermost message.
#pragma once

#include "flux/message.hpp"

#include <cstdint>

namespace flux {

/// Where a message is: the first of the places of its fields.
struct message_places {
    message_part whole;
};

/// Where a list is, and how many elements it has so far.
struct message_parts {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t count = 0;
    // Where the next element begins; after the list that is the byte after it, and after what ends it.
    std::uint32_t next = 0;
    bool is_read = false;
};

} // namespace flux
