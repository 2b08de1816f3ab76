/// \file
/// Writes a message of the values of its fields. What is made is what its declaration says, or is not made: it is read
/// again, or where reading it could only say what has been written, the places of its fields are noted meanwhile
/// (`made`).
#pragma once

#include "flux/error.hpp"
#include "flux/expected.hpp"
#include "flux/message.hpp"
#include "flux/message/decimal.hpp"
#include "flux/message/quick_reading.hpp"
#include "flux/message/reader.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <string_view>
#include <utility>

namespace flux {

/// The bytes of a message that is being made. Its functions throw `std::bad_alloc`. One that has room for all that it
/// will write, as its maker knows, does not ask for each part.
template <bool HasRoom>
class writer_of
{
  public:
    writer_of() noexcept = default;
    /// One that will write so many bytes, or some less. Throws `std::bad_alloc`.
    explicit writer_of(std::size_t most)
    {
        // Not where it stays: of whose address nobody knows, the compiler keeps in registers.
        message_bytes room = message_bytes::allocate(most);
        bytes_ = std::move(room);
        begin_at(0);
    }

    /// Bytes as they are. Inline, as most are a few that the compiler knows.
    [[gnu::always_inline]] void text(std::string_view more)
    {
        if (more.empty()) {
            return;
        }
        need(more.size());
        std::memcpy(next_, more.data(), more.size());
        next_ += more.size();
    }

    /// An integer of `Size` bytes; one that has not so many makes no message.
    template <class Integer, std::size_t Size, std::endian Order>
    void integer(std::integral auto value)
    {
        constexpr unsigned unused = 8 * (sizeof(Integer) - Size);
        const auto raw = static_cast<std::uint64_t>(value);
        fits_ = fits_ && std::in_range<Integer>(value) &&
                static_cast<Integer>(static_cast<Integer>(raw << unused) >> unused) == static_cast<Integer>(value);
        // Its bytes come first in memory, in their order. It is stored as a whole: bytes that are stored one by one and
        // read together wait for each other.
        std::uint64_t all = Order == std::endian::big ? raw << (64 - 8 * Size) : raw;
        if constexpr (Order != std::endian::native) {
            all = __builtin_bswap64(all);
        }
        text({reinterpret_cast<const char *>(&all), Size});
    }

    /// The next bits, the highest first.
    void bits(std::uint64_t value, unsigned width)
    {
        fits_ = fits_ && (width == 64 || value >> width == 0);
        for (unsigned left = width; left > 0; --left) {
            byte_ = static_cast<unsigned char>(std::uint64_t{byte_} << 1 | (value >> (left - 1) & 1));
            if (++bits_ == 8) {
                const char whole = static_cast<char>(byte_);
                text({&whole, 1});
                bits_ = 0;
            }
        }
    }

    /// An integer as digits.
    [[gnu::always_inline]] void digits(std::integral auto value, int base)
    {
        const std::size_t most = base == 10 ? most_decimal : most_digits;
        need(most);
        next_ = base == 10 ? write_decimal(next_, value) : std::to_chars(next_, end_, value, base).ptr;
    }

    /// The same, and the value is kept where the reader keeps it.
    template <std::integral Kept>
    [[gnu::always_inline]] void digits(std::integral auto value, int base, Kept &kept)
    {
        fits_ = fits_ && std::in_range<Kept>(value);
        kept = static_cast<Kept>(value);
        digits(value, base);
    }

    /// A text of at most so many bytes, of which another field says the size: it is this part of the message.
    [[gnu::always_inline]] void text(std::string_view more, message_part &part,
                                     std::uint64_t most = std::numeric_limits<std::uint64_t>::max())
    {
        fits_ = fits_ && more.size() <= most;
        part.begin = position();
        text(more);
        part.end = position();
    }

    /// The same of one that ends where this comes first.
    void until(std::string_view more, std::string_view end, std::uint64_t most, message_part &part)
    {
        text(more, part, most);
        text(end);
        // What it ends with may be the beginning of `end`.
        const std::string_view all(next_ - end.size() - more.size(), more.size() + end.size());
        fits_ = fits_ && all.find(end) == more.size();
    }

    /// Another message as it is: it is this part of the one that is made.
    [[gnu::always_inline]] void part(std::string_view wire, message_places &at)
    {
        at.whole.begin = position();
        text(wire);
        at.whole.end = position();
    }

    /// What the reader will find that a variable is, where the reader keeps it.
    template <std::integral Kept>
    void variable(std::integral auto value, Kept &kept) noexcept
    {
        fits_ = fits_ && std::in_range<Kept>(value);
        kept = static_cast<Kept>(value);
    }

    /// Unless this holds, it makes no message.
    void require(bool holds) noexcept { fits_ = fits_ && holds; }

    /// How many bytes have been written: where what is in a message begins.
    std::uint32_t position() const noexcept { return static_cast<std::uint32_t>(next_ - first_); }

    /// The message, of which all places have been noted but where it is itself. Fails with EINVAL where it is none.
    template <class Message>
    expected<Message, int> made(typename Message::places &at)
    {
        const std::size_t whole = size();
        if (!fits_ || whole > std::min<std::size_t>(Message::facts.max_size, most_bytes)) [[unlikely]] {
            return unexpected(EINVAL);
        }
        bytes_.end_at(whole);
        static_cast<message_places &>(at).whole = {0, static_cast<std::uint32_t>(whole)};
        // Places of ways that were not taken have no value, and are moved with the others: the compiler is not to warn.
        // Nothing is to keep it from writing them where they stay.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
        return Message(std::move(bytes_), at);
#pragma GCC diagnostic pop
    }

    /// What makes no message.
    void fail() noexcept { require(false); }

    /// Reads what has been written so far: the places of what it has. `at` has its parameters.
    template <class Message>
    typename Message::places so_far(typename Message::places at = {}) const
    {
        unfinished_message unfinished;
        unfinished.keep_streams();
        message_reader in(bytes_.view().substr(0, size()), false, unfinished);
        if (in.read<Message>(at) == reading::no_memory) [[unlikely]] {
            throw std::bad_alloc();
        }
        return at;
    }

    /// The text of a part of that.
    std::string_view view(const message_part &part) const noexcept
    {
        return bytes_.view().substr(part.begin, part.end - part.begin);
    }

    /// Whether it is a message, all of it; then the bytes are moved out, and `at`, which is as new, says where its
    /// fields are. One without bytes is none: nobody could tell that it has been sent.
    template <class Message>
    bool ends(message_bytes &made, typename Message::places &at)
    {
        return size() > 0 && is_whole<Message>(made, at, [] { return typename Message::places(); });
    }

    /// The same of one that is part of another, and may have no bytes; `at` has its parameters.
    template <class Message>
    bool is(message_bytes &made, typename Message::places &at)
    {
        return is_whole<Message>(made, at, [first = at] { return first; });
    }

  private:
    // A sign and the bits of an integer, in base 2.
    static constexpr std::size_t most_digits = 65;
    // Offsets have 32 bits.
    static constexpr std::size_t most_bytes = std::numeric_limits<std::uint32_t>::max();

    // `first` gives the places as they are now.
    template <class Message>
    bool is_whole(message_bytes &made, typename Message::places &at, const auto &first)
    {
        if (!fits_) {
            return false;
        }
        const std::size_t whole = size();
        if (bytes_.data() != nullptr) {
            bytes_.end_at(whole);
        }
        if (!is_read<Message>(at, first) || static_cast<const message_places &>(at).whole.end != whole) {
            return false;
        }
        made = std::move(bytes_);
        return true;
    }

    // Whether the bytes begin with a message.
    template <class Message>
    bool is_read(typename Message::places &at, const auto &first) const
    {
        if (read_quickly<Message>(bytes_.view(), true, at).after != nullptr) [[likely]] {
            return true;
        }
        at = first();
        unfinished_message unfinished;
        unfinished.keep_streams();
        message_reader in(bytes_.view(), true, unfinished);
        const reading come = in.read<Message>(at);
        if (come == reading::no_memory) {
            throw std::bad_alloc();
        }
        return come == reading::whole;
    }

    // There is to be room for so many more.
    [[gnu::always_inline]] void need(std::size_t more)
    {
        if constexpr (HasRoom) {
            assert(more <= room());
        } else if (room() < more) [[unlikely]] {
            grow(more);
        }
    }

    std::size_t room() const noexcept { return static_cast<std::size_t>(end_ - next_); }
    std::size_t size() const noexcept { return static_cast<std::size_t>(next_ - first_); }

    // There is room for more, behind so many bytes that are written.
    void begin_at(std::size_t written) noexcept
    {
        first_ = reinterpret_cast<char *>(bytes_.data());
        next_ = first_ + written;
        end_ = first_ + bytes_.size();
    }

    void grow(std::size_t more)
    {
        const std::size_t written = size();
        bytes_ = grown(std::move(bytes_), written, more);
        begin_at(written);
    }

    // Static, and away from the writer: so the compiler can keep that in registers.
    [[gnu::noinline]] static message_bytes grown(message_bytes own, std::size_t written, std::size_t more)
    {
        if (own.size() == 0) {
            return message_bytes::allocate(std::max<std::size_t>(more, 128));
        }
        // Where what comes is large, it is most likely the last.
        own.resize(std::max(2 * written, written + more));
        return own;
    }

    message_bytes bytes_;
    // The first byte, where the next one is written, and behind the last that there is room for.
    char *first_ = nullptr;
    char *next_ = nullptr;
    char *end_ = nullptr;
    unsigned char byte_ = 0;
    unsigned bits_ = 0;
    bool fits_ = true;
};

/// What writes any message.
using message_writer = writer_of<false>;

/// What writes one that has no more bytes than it is told first.
using sized_message_writer = writer_of<true>;

} // namespace flux
