/// \file
/// The parse of a message of a class that is known: the only part of receiving messages that is compiled for each
/// class. Everything else works with `message_parse`.
#pragma once

#include "flux/message/parse.hpp"
#include "flux/message/reader.hpp"
#include "flux/message/unfinished.hpp"

#include <memory>
#include <string>
#include <string_view>
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
        if (!goes_on_) {
            at_ = {};
        }
        message_reader in(so_far, is_end, unfinished_);
        const reading come = in.template read<Message>(at_);
        goes_on_ = come == reading::unfinished;
        if (come == reading::whole) [[likely]] {
            count_ = in.size();
            return state::whole;
        }
        if (goes_on_) {
            count_ = in.wanted();
            return state::unfinished;
        }
        fault_ = in.fault();
        unfinished_.clear();
        return state::wrong;
    }

    std::string fault() const override
    {
        return "byte " + std::to_string(fault_.offset) + ", " + fault_.field() + ": " + fault_.text;
    }

    std::unique_ptr<message_parse> keep() override
    {
        auto kept = std::make_unique<typed_parse>();
        kept->take_over(*this);
        unfinished_.clear();
        goes_on_ = false;
        return kept;
    }

    void take_over(message_parse &kept) noexcept override
    {
        auto &other = static_cast<typed_parse &>(kept);
        count_ = other.count_;
        at_ = other.at_;
        unfinished_ = std::move(other.unfinished_);
        fault_ = other.fault_;
        goes_on_ = other.goes_on_;
    }

    /// Of one that is whole, and has its bytes, the message.
    Message message() { return Message(std::move(bytes), at_); }

  private:
    typename Message::places at_;
    unfinished_message unfinished_;
    message_fault fault_;
    bool goes_on_ = false;
};

} // namespace flux
