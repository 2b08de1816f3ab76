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
            std::memcpy(&prefix, value.data(), std::min(value.size(), sizeof prefix));
            prefix = std::endian::native == std::endian::little ? __builtin_bswap64(prefix) : prefix;
        }
    }

    /// Which of two comes first.
    std::strong_ordering beside(const sort_key &other) const noexcept
    {
        if (prefix != other.prefix) {
            return prefix <=> other.prefix;
        }
        if constexpr (is_text) {
            if (value.size() <= sizeof prefix && other.value.size() <= sizeof prefix) {
                return value.size() <=> other.value.size();
            }
        }
        return value <=> other.value;
    }

    // Of a text the first eight bytes as a number that is ordered as they are, which decides of most.
    std::uint64_t prefix = 0;
    Value value{};
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
        while (true) {
            const flux::reading come = read();
            if (come == flux::reading::whole) [[likely]] {
                const flux::io_result<void> accepted = accept();
                if (!accepted.has_value() || there_) [[likely]] {
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

    /// Whether there is an element; and its key.
    bool there() const noexcept { return there_; }
    const key_type &at() const noexcept { return at_; }

    /// The element, until the next but one. The key may be a part of it.
    const Message &element() const noexcept { return elements_[at_element_]; }

  private:
    static constexpr std::size_t block_size = std::size_t{64} << 10;

    void begin_places() noexcept { new (static_cast<void *>(&places_)) typename Message::places; }

    // One that is there as a whole, as most are: gives the byte after it.
    const char *read_quickly() noexcept
    {
        const std::string_view so_far(reinterpret_cast<const char *>(first_), filled_);
        if constexpr (Message::facts.is_sized) {
            return flux::sized_cursor::read<Message>(so_far, places_, begin_).after;
        } else {
            begin_places();
            return flux::quick_reading::read<Message>(so_far, begin_, false, places_).after;
        }
    }

    flux::reading read() noexcept
    {
        if (begin_ == filled_) {
            return flux::reading::unfinished;
        }
        if (!goes_on_) {
            if (const char *const after = read_quickly()) [[likely]] {
                end_ = static_cast<std::size_t>(after - reinterpret_cast<const char *>(first_));
                return flux::reading::whole;
            }
            begin_places();
        }
        flux::message_reader in(block_.view().substr(0, filled_), is_over_, unfinished_);
        const flux::reading come = in.template read<Message>(places_, begin_);
        goes_on_ = come == flux::reading::unfinished;
        if (come == flux::reading::whole) [[likely]] {
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
        // The one before is looked at once more.
        const std::size_t next = 1 - at_element_;
        const bool is_of_block = std::exchange(are_of_block_[next], true);
        flux::message_bytes own = is_of_block ? elements_[next].release() : block_;
        std::destroy_at(&elements_[next]);
        const Message &element = *std::construct_at(&elements_[next], std::move(own), places_);
        if constexpr (has_end) {
            if (std::get<0>(std::tuple(ends...))(element)) [[unlikely]] {
                return accept_end(element);
            }
        }
        key_type after(key(element));
        if (there_ && after.beside(at_) < 0) [[unlikely]] {
            return report("is not sorted");
        }
        at_ = std::move(after);
        at_element_ = next;
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
    // The element and the one before it, or their places; and whether these are parts of this block.
    std::array<Message, 2> elements_;
    std::size_t at_element_ = 0;
    std::array<bool, 2> are_of_block_{};
    key_type at_;

    // Of what is before `summed_`, and of all earlier blocks.
    checksum checksum_;
    std::size_t summed_ = 0;
};

} // namespace flick
