/// \file
/// The parse of a message of a class that is known: the only part of receiving messages that is compiled for each
/// class. Everything else works with `message_parse`.
#pragma once

#include "flux/message/parse.hpp"
#include "flux/message/quick_reading.hpp"
#include "flux/message/reader.hpp"
#include "flux/message/unfinished.hpp"

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace flux {

/// For a class that the compiler has generated of a message's declaration, or one of that shape.
template <class Message>
class typed_parse final : public message_parse
{
  public:
    typed_parse() noexcept : message_parse(Message::facts) {}

    state read(std::string_view so_far, bool is_end) noexcept override
    {
        if (goes_on_) [[unlikely]] {
            return read_with_care(so_far, is_end);
        }
        begin();
        const auto [after, stops] = read_quickly<Message>(so_far, unfinished_.keeps_streams(), at_);
        if (after == nullptr) [[unlikely]] {
            return stops ? read_on_with_care(so_far, is_end) : read_again_with_care(so_far, is_end);
        }
        count_ = static_cast<std::size_t>(after - so_far.data());
        if constexpr (has_streams<Message>()) {
            stream_.is_ahead = false;
        }
        return state::whole;
    }

    /// Before it reads anything: streams are read as other bytes, and the message is all in memory.
    void keep_streams() noexcept { unfinished_.keep_streams(); }

    const stream_ahead *ahead() const noexcept override
    {
        if constexpr (has_streams<Message>()) {
            return stream_.is_ahead ? &stream_.ahead : nullptr;
        } else {
            return nullptr;
        }
    }

    state read_on(std::span<char> window, std::size_t &filled, bool is_end) noexcept override
    {
        if constexpr (has_streams<Message>()) {
            std::exchange(stream_.is_ahead, false) ? unfinished_.pass_stream(window.data())
                                                   : unfinished_.move_window(window.data());
            message_reader in(std::string_view(window.data(), filled), is_end, unfinished_);
            const state come = come_of(in);
            filled = in.available();
            return come;
        } else {
            return state::wrong;
        }
    }

    std::string fault() const override
    {
        return "byte " + std::to_string(fault_.offset) + ", " + fault_.field() + ": " + fault_.text;
    }

    const message_fault *what_is_wrong() const noexcept override { return &fault_; }

    std::unique_ptr<message_parse> keep() override
    {
        std::unique_ptr<typed_parse> kept(new (std::nothrow) typed_parse);
        if (kept != nullptr) {
            kept->take_over(*this);
        }
        unfinished_.clear();
        goes_on_ = false;
        return kept != nullptr ? std::move(kept) : throw std::bad_alloc();
    }

    void take_over(message_parse &kept) noexcept override
    {
        auto &other = static_cast<typed_parse &>(kept);
        count_ = other.count_;
        at_ = other.at_;
        unfinished_ = std::move(other.unfinished_);
        fault_ = other.fault_;
        goes_on_ = other.goes_on_;
        stream_ = other.stream_;
    }

    /// Of one that is whole, and has its bytes, the message.
    Message message() { return Message(std::move(bytes), at_); }

  private:
    // Not by assignment, which would set all of them to zero first.
    void begin() noexcept { new (static_cast<void *>(&at_)) typename Message::places; }

    [[gnu::noinline]] state read_with_care(std::string_view so_far, bool is_end) noexcept
    {
        message_reader in(so_far, is_end, unfinished_);
        return come_of(in);
    }
    state read_on_with_care(std::string_view so_far, bool is_end) noexcept
    {
        unfinished_.open();
        return read_with_care(so_far, is_end);
    }
    state read_again_with_care(std::string_view so_far, bool is_end) noexcept
    {
        begin();
        return read_with_care(so_far, is_end);
    }

    state come_of(message_reader &in) noexcept
    {
        if constexpr (has_streams<Message>()) {
            stream_.is_ahead = false;
        }
        const reading come = in.template read<Message>(at_);
        goes_on_ = come == reading::unfinished;
        if (come == reading::whole) [[likely]] {
            count_ = in.size();
            return state::whole;
        }
        if constexpr (has_streams<Message>()) {
            if (const stream_ahead *const next = in.ahead()) {
                stream_ = {*next, true};
                count_ = in.size();
                static_cast<message_places &>(at_).whole = {0, in.position()};
                return state::whole;
            }
        }
        if (goes_on_) {
            count_ = in.wanted();
            return state::unfinished;
        }
        unfinished_.clear();
        if (come == reading::no_memory) {
            return state::no_memory;
        }
        fault_ = in.fault();
        return state::wrong;
    }

    struct next_stream {
        stream_ahead ahead;
        bool is_ahead = false;
    };
    struct no_stream {
    };

    typename Message::places at_;
    unfinished_message unfinished_;
    message_fault fault_;
    bool goes_on_ = false;
    [[no_unique_address]] std::conditional_t<has_streams<Message>(), next_stream, no_stream> stream_;
};

} // namespace flux
