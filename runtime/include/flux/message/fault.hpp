/// \file
/// What comes of reading a message, and why bytes are none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace flux {

/// What comes of reading a message.
enum class reading : std::uint8_t {
    /// It is there.
    whole,
    /// More bytes are needed.
    unfinished,
    /// The bytes are no such message.
    wrong,
};

/// A field of a fixed size.
struct field_size {
    std::uint32_t size;
    const char *field;
};

/// What stands for the next byte where there is none.
struct no_byte {
    /// What is read ends.
    static constexpr int at_end = -1;
    /// It has not come.
    static constexpr int not_here = -2;
};

/// Why bytes are no message.
struct message_fault {
    /// The byte at which it was found.
    std::size_t offset = 0;
    /// What is wrong there.
    const char *text = "";

    /// The texts of what is larger than it may be.
    static constexpr const char *too_large = "the message would be larger than it may be";
    static constexpr const char *too_long = "it has more bytes than it may have";
    static constexpr const char *too_many = "there are more elements than there may be";

    /// Whether something is larger than it may be.
    bool is_of_size() const noexcept
    {
        const std::string_view what = text;
        return what == too_large || what == too_long || what == too_many;
    }

    /// The message and the fields on the way, joined by points. Throws `std::bad_alloc`.
    std::string field() const;

  private:
    friend class message_reader;
    template <class>
    friend class cursor_of;

    struct step {
        const char *name;
        std::size_t index;
    };
    static constexpr std::size_t no_index = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t most_steps = 24;

    void within(const char *name, std::size_t index) noexcept;

    // The innermost first. Of more the outermost are left out.
    std::array<step, most_steps> steps_;
    std::size_t count_ = 0;
};

} // namespace flux
