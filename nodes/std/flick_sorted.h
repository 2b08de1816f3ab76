// What comes of a client that sends elements in the order of their keys, for the merge: it is received in blocks, and
// elements are parts of these, so that none is copied, and their keys are compared where they are.
//
// The module of a message may say how a stream of it ends: which message is the last, and how that is made of the
// CRC-32 of all that comes before its last four bytes, as of Hadoop's IFile.
#pragma once

#include "flick_checksum.h"

#include "flux/connection.hpp"
#include "flux/log.hpp"
#include "flux/message/sized_cursor.hpp"
#include "flux/message/typed_parse.hpp"
#include "flux/reading.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace flick {

/// The bytes of a last message that are behind what its checksum is of.
constexpr std::size_t checksum_size = 4;

/// By what elements are ordered.
template <class Value>
struct sort_key {
    static constexpr bool is_text = std::is_convertible_v<Value, std::string_view>;
    /// What has the value for itself.
    using own_type = std::conditional_t<std::is_same_v<Value, std::string_view>, std::string, Value>;

    sort_key() = default;
    explicit sort_key(Value of) : value(std::move(of))
    {
        if constexpr (is_text) {
            prefix = prefix_of(value);
        } else if constexpr (std::is_integral_v<Value>) {
            prefix = static_cast<std::uint64_t>(value) ^ (std::is_signed_v<Value> ? std::uint64_t{1} << 63 : 0);
        }
    }

    /// Which of two comes first.
    std::strong_ordering beside(const sort_key &other) const noexcept
    {
        return prefix != other.prefix ? prefix <=> other.prefix : behind_prefix(other);
    }

    /// The same of two that have one prefix.
    std::strong_ordering behind_prefix(const sort_key &other) const noexcept
    {
        if constexpr (is_text) {
            const std::string_view one(value);
            const std::string_view two(other.value);
            // One that is all in the prefix is the beginning of the other, or differs in zeros that are missing.
            const bool is_all = one.size() <= sizeof prefix || two.size() <= sizeof prefix;
            return is_all ? one.size() <=> two.size() : one.substr(sizeof prefix) <=> two.substr(sizeof prefix);
        } else {
            return value <=> other.value;
        }
    }

    // A number that is ordered as the values are, which decides of most: of a text of the first eight bytes.
    std::uint64_t prefix = 0;
    Value value{};

  private:
    static std::uint64_t prefix_of(std::string_view text) noexcept
    {
        std::uint64_t first = 0;
        if (text.size() >= sizeof first) [[likely]] {
            std::memcpy(&first, text.data(), sizeof first);
            return std::endian::native == std::endian::little ? __builtin_bswap64(first) : first;
        }
        for (std::size_t at = 0; at != text.size(); ++at) {
            first |= std::uint64_t{static_cast<unsigned char>(text[at])} << (56 - 8 * at);
        }
        return first;
    }
};

/// What comes of one client. `ends` are none, or two functions: whether an element is the last, and what makes that.
template <class Message, auto key, auto... ends>
class sorted_input
{
  public:
    static constexpr bool has_end = sizeof...(ends) == 2;
    using key_type = sort_key<std::decay_t<decltype(key(std::declval<const Message &>()))>>;

    explicit sorted_input(flux::connection &from) noexcept : from_(&from) {}

    /// The next element, if there is one; calls `before_waiting`, which may fail, where more has to be received. Fails
    /// with EBADMSG where what comes is no element or not sorted, or the checksum is wrong, with ECONNRESET where it
    /// ends too early, and as receiving does.
    template <class BeforeWaiting>
    flux::io_result<void> next(BeforeWaiting before_waiting)
    {
        if (takes_next()) [[likely]] {
            return {};
        }
        while (true) {
            const flux::reading come = read();
            if (come == flux::reading::whole) {
                const flux::io_result<void> accepted = accept();
                if (!accepted.has_value() || there_) {
                    return accepted;
                }
                continue;
            }
            if (come == flux::reading::wrong) {
                return report_wrong();
            }
            if (come == flux::reading::no_memory) [[unlikely]] {
                return flux::unexpected(ENOMEM);
            }
            if (is_over_) {
                there_ = false;
                return ended();
            }
            if (const flux::io_result<void> ready = before_waiting(); !ready.has_value()) {
                return ready;
            }
            if (const flux::io_result<void> received = receive(); !received.has_value()) {
                return received;
            }
        }
    }

    /// Whether there is an element; it and its key, which may be a part of it, stay until the next but one.
    bool there() const noexcept { return there_; }
    const key_type &at() const noexcept { return keys_[current_]; }
    const Message &element() const noexcept { return elements_[current_]; }

  private:
    static constexpr std::size_t block_size = std::size_t{64} << 10;

    // The next element, if it is there as a whole, and nothing is to be said of it, as of most. All of this is one
    // function: so what is asked of a message that has just been read is in registers.
    [[gnu::flatten]] bool takes_next()
    {
        if (goes_on_ || has_come_to_end_ || begin_ == filled_) [[unlikely]] {
            return false;
        }
        typename Message::places places;
        const std::string_view so_far(reinterpret_cast<const char *>(first_), filled_);
        const char *after = nullptr;
        if constexpr (Message::facts.is_sized) {
            after = flux::sized_cursor::read<Message>(so_far, places, begin_).after;
        } else {
            after = flux::quick_reading::read<Message>(so_far, begin_, false, places).after;
        }
        if (after == nullptr) [[unlikely]] {
            return false;
        }
        const std::size_t next = 1 - current_;
        const Message &element = put(next, places);
        if constexpr (has_end) {
            if (std::get<0>(std::tuple(ends...))(element)) [[unlikely]] {
                return false;
            }
        }
        if (!is_sorted(next)) [[unlikely]] {
            return false;
        }
        begin_ = static_cast<std::size_t>(after - so_far.data());
        current_ = next;
        return there_ = true;
    }

    // Whether the element there has a key that may come next.
    bool is_sorted(std::size_t place)
    {
        // This may throw, and must not where there is no key.
        auto value = key(elements_[place]);
        // In its place, as a copy of what has just been written has to wait for it.
        std::destroy_at(&keys_[place]);
        std::construct_at(&keys_[place], std::move(value));
        return !there_ || keys_[place].beside(keys_[current_]) >= 0;
    }

    const Message &put(std::size_t place, const typename Message::places &places)
    {
        const bool is_of_block = std::exchange(are_of_block_[place], true);
        flux::message_bytes own = is_of_block ? elements_[place].release() : block_;
        std::destroy_at(&elements_[place]);
        return *std::construct_at(&elements_[place], std::move(own), places);
    }

    // Says what there is.
    flux::reading read() noexcept
    {
        if (begin_ == filled_) {
            return flux::reading::unfinished;
        }
        if (!goes_on_) {
            new (static_cast<void *>(&places_)) typename Message::places;
        }
        flux::message_reader in(block_.view().substr(0, filled_), is_over_, unfinished_);
        const flux::reading come = in.template read<Message>(places_, begin_);
        goes_on_ = come == flux::reading::unfinished;
        if (come == flux::reading::whole) {
            end_ = in.size();
        }
        return come;
    }

    // What was read is the next element, or the end, behind which nothing may come.
    flux::io_result<void> accept()
    {
        begin_ = end_;
        if (has_come_to_end_) [[unlikely]] {
            return report("goes on behind its end");
        }
        const std::size_t next = 1 - current_;
        const Message &element = put(next, places_);
        if constexpr (has_end) {
            if (std::get<0>(std::tuple(ends...))(element)) [[unlikely]] {
                return accept_end(element);
            }
        }
        if (!is_sorted(next)) {
            return report("is not sorted");
        }
        current_ = next;
        there_ = true;
        return {};
    }

    flux::io_result<void> accept_end(const Message &last)
    {
        there_ = false;
        has_come_to_end_ = true;
        checksum_.add(block_.view().substr(summed_, begin_ - checksum_size - summed_));
        if (std::get<1>(std::tuple(ends...))(checksum_.value()).wire() != last.wire()) {
            return report("has another checksum at its end");
        }
        return {};
    }

    // There is no more.
    flux::io_result<void> ended()
    {
        if (begin_ != filled_ || (has_end && !has_come_to_end_)) {
            static_cast<void>(report(has_come_to_end_ ? "goes on behind its end" : "ends too early"));
            return flux::unexpected(ECONNRESET);
        }
        return {};
    }

    flux::io_result<void> receive()
    {
        const std::size_t rest = filled_ - begin_;
        if (begin_ != 0 || filled_ == block_.size()) {
            if constexpr (has_end) {
                checksum_.add(block_.view().substr(summed_, begin_ - summed_));
            }
            flux::message_bytes larger = flux::message_bytes::allocate(2 * rest + block_size);
            std::copy_n(reinterpret_cast<const std::byte *>(block_.view().data()) + begin_, rest, larger.data());
            if (begin_ != 0) {
                // Its offsets are others now: it is read from its beginning.
                unfinished_.clear();
                goes_on_ = false;
            }
            block_ = std::move(larger);
            first_ = block_.data();
            are_of_block_ = {};
            begin_ = summed_ = 0;
            filled_ = rest;
        }
        const auto received = from_->receive(std::span(block_.data() + filled_, block_.size() - filled_));
        if (!received.has_value()) {
            return flux::unexpected(received.error());
        }
        filled_ += *received;
        is_over_ = *received == 0;
        return {};
    }

    flux::io_result<void> report_wrong()
    {
        flux::typed_parse<Message> parse;
        parse.read(block_.view().substr(begin_, filled_ - begin_), is_over_);
        flux::log_wrong_message(from_->peer(), parse);
        return flux::unexpected(EBADMSG);
    }

    flux::io_result<void> report(const char *what)
    {
        flux::log_line("what %s sends %s", from_->peer().text().c_str(), what);
        return flux::unexpected(EBADMSG);
    }

    flux::connection *from_;
    // What has come. Elements have shares of it: it is written beyond those alone.
    flux::message_bytes block_;
    std::byte *first_ = nullptr;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::size_t filled_ = 0;
    typename Message::places places_;
    flux::unfinished_message unfinished_;
    bool goes_on_ = false;
    // Whether nothing more comes, and whether that was said.
    bool is_over_ = false;
    bool has_come_to_end_ = false;

    bool there_ = false;
    // The element and the one before it, or their places, and whether these are parts of this block; and their keys.
    std::size_t current_ = 0;
    std::array<key_type, 2> keys_;
    std::array<Message, 2> elements_;
    std::array<bool, 2> are_of_block_{};

    // Of what is before `summed_`, and of all earlier blocks.
    checksum checksum_;
    std::size_t summed_ = 0;
};

} // namespace flick
