/// \file
/// A class of messages for tests, read by hand: the byte `#`, the number of bytes of its text in four bytes, the
/// highest first, and the text. With `@` in place of `#` there is no number, and the text goes to the end of the input.
/// For the largest number there is no memory.
#pragma once

#include "flux/message/parse.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace sized {

inline constexpr std::size_t head_size = 5;
inline constexpr flux::message_facts facts{"test.sized", 1 << 20};
inline constexpr flux::message_facts other_facts{"test.other", 1 << 20};

/// Such a message.
inline std::string wire(std::string_view text)
{
    std::string made = "#";
    for (int shift = 24; shift >= 0; shift -= 8) {
        made += static_cast<char>(text.size() >> shift);
    }
    return made.append(text);
}

/// The text of one.
inline std::string_view text_of(std::string_view wire)
{
    return wire.substr(wire.front() == '@' ? 1 : head_size);
}

/// The parse of one. It holds that it is called as it may be.
class parse final : public flux::message_parse
{
  public:
    explicit parse(const flux::message_facts &as = sized::facts) : message_parse(as) {}

    state read(std::string_view so_far, bool is_end) noexcept override
    {
        // Who has not the bytes of the last call, and at least one more, has lost some.
        const std::string_view seen(seen_.data(), std::min(seen_.size(), seen_size_));
        const bool goes_on = so_far.starts_with(seen) && (so_far.size() > seen_size_ || is_end);
        seen_size_ = 0;
        if (!goes_on || so_far.empty()) {
            return fail("what was read before is gone", 0);
        }
        if (so_far.front() == '@') {
            count_ = is_end ? so_far.size() : 1;
            return is_end ? state::whole : wait(so_far);
        }
        if (so_far.front() != '#') {
            return fail("no message begins so", 0);
        }
        std::size_t size = head_size;
        if (so_far.size() >= head_size) {
            std::size_t text = 0;
            for (const char byte : so_far.substr(1, 4)) {
                text = text << 8 | static_cast<unsigned char>(byte);
            }
            if (text == 0xffff'ffff) {
                return state::no_memory;
            }
            if (text > sized::facts.max_size) {
                return fail("too long", 1);
            }
            size += text;
        }
        if (so_far.size() < size || so_far.size() < head_size) {
            count_ = size - so_far.size();
            return wait(so_far);
        }
        count_ = size;
        return state::whole;
    }

    std::string fault() const override { return "byte " + std::to_string(at_) + ": " + why_; }

    std::unique_ptr<message_parse> keep() override
    {
        // This one reads the next message, also where there is no memory for the other.
        const std::size_t seen_size = std::exchange(seen_size_, 0);
        auto kept = std::make_unique<parse>(facts());
        kept->count_ = count_;
        kept->seen_ = seen_;
        kept->seen_size_ = seen_size;
        return kept;
    }

    void take_over(message_parse &kept) noexcept override
    {
        auto &other = static_cast<parse &>(kept);
        count_ = other.count_;
        at_ = other.at_;
        why_ = other.why_;
    }

  private:
    state wait(std::string_view so_far) noexcept
    {
        seen_size_ = so_far.size();
        so_far.copy(seen_.data(), seen_.size());
        return state::unfinished;
    }

    state fail(const char *why, std::size_t at) noexcept
    {
        why_ = why;
        at_ = at;
        return state::wrong;
    }

    // How much there was when it was unfinished, and the beginning of that.
    std::size_t seen_size_ = 0;
    std::array<char, 64> seen_{};
    const char *why_ = "";
    std::size_t at_ = 0;
};

} // namespace sized
