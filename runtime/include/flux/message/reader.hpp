/// \file
/// Reads a message: goes along its bytes, says where its fields are, and stops where bytes are missing or wrong.
///
/// The code that is generated of a message's declaration is one function for each message, which goes through its
/// fields with a `message_cursor`. What has a size of its own is found by one comparison. When bytes are missing the
/// function returns, and begins anew when more have come: what may be long has been noted in `places`, and is passed
/// over; the rest is of bounded size and is looked at again. So the code has no states, and an arrival costs a bounded
/// number of steps beside those for its bytes.
///
/// All offsets count from the first byte of the outermost message. Nothing is copied, and nothing is allocated but for
/// what `unfinished_message` remembers.
#pragma once

#include "flux/message.hpp"
#include "flux/message/cursor.hpp"
#include "flux/message/depths.hpp"
#include "flux/message/fault.hpp"
#include "flux/message/places.hpp"
#include "flux/message/stream_ahead.hpp"
#include "flux/message/unfinished.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace flux {

/// One reading of a message, as far as its bytes have come.
class message_reader
{
  public:
    /// A reader of the bytes that have come so far, from the first byte of the message on. `is_end` says that no more
    /// will come. `unfinished` is what earlier readings of the same message left, with fewer bytes.
    message_reader(std::string_view so_far, bool is_end, unfinished_message &unfinished) noexcept
        : bytes_(so_far.data() == nullptr ? "" : so_far.data()), available_(std::min(so_far.size(), most_bytes)),
          unfinished_(&unfinished), is_end_(is_end), resumes_(unfinished.is_open_)
    {
    }
    message_reader(const message_reader &) = delete;
    message_reader &operator=(const message_reader &) = delete;

    /// Reads a message, whose `places` are as the last reading left them. It begins at this byte of those that were
    /// given: then all offsets count from the first of these, and the message has no `&parse_at`.
    template <class Message>
    reading read(typename Message::places &at, std::size_t begin = 0) noexcept;

    /// Of a message that is whole, where it ends; of one that begins at the first byte, how many bytes it has.
    std::size_t size() const noexcept { return at_; }

    /// Where the reading has ended: an offset.
    std::uint32_t position() const noexcept { return static_cast<std::uint32_t>(at_); }

    /// Of a message that is unfinished, how many bytes more are needed at least.
    std::size_t wanted() const noexcept { return wanted_; }

    /// Of a message that is unfinished, the stream before which the reading has stopped: it goes on when that has gone
    /// along (`unfinished_message::pass_stream`). Null where it is bytes that are missing.
    const stream_ahead *ahead() const noexcept
    {
        return stops_ && result_ == reading::unfinished ? &ahead_ : nullptr;
    }

    /// How many of the bytes that were given are there still: without elements that were removed.
    std::size_t available() const noexcept { return available_; }

    /// Of bytes that are no message, why.
    const message_fault &fault() const noexcept { return fault_; }

  private:
    template <class>
    friend class cursor_of;

    // Whether it says why it has ended.
    static constexpr bool tells = true;
    static constexpr int at_end = no_byte::at_end;
    static constexpr int not_here = no_byte::not_here;

    static constexpr const char *ends_early = "the data ends too early";
    static constexpr const char *too_large = message_fault::too_large;
    static constexpr const char *too_long = message_fault::too_long;

    static constexpr std::size_t most_bytes = message_part::most_bytes;

    /// What bounds what is read: its end, and whether that is of a field or of the message as a whole.
    struct region {
        std::size_t limit;
        bool is_field;
    };

    std::uint32_t offset_of(const char *next) const noexcept { return static_cast<std::uint32_t>(next - bytes_); }
    region here() const noexcept { return {limit_, in_region_}; }
    // Whether what is before `next` is more than may be there.
    bool is_over(const char *next) const noexcept { return offset_of(next) > limit_; }

    bool enter(const char *next, std::uint64_t size, const char *field) noexcept;
    bool leave(const char *next, region outer, const char *field) noexcept
    {
        // Where what is around it ends there too, that is told of.
        const std::size_t at = offset_of(next);
        if (at == limit_ || (outer.is_field && limit_ == outer.limit)) [[likely]] {
            return restore(outer);
        }
        end_wrong(at, field, "bytes are left over");
        return false;
    }
    bool restore(region outer) noexcept
    {
        limit_ = outer.limit;
        in_region_ = outer.is_field;
        end_ = bytes_ + std::min(available_, limit_);
        return true;
    }
    // A message begins that may have at most so many bytes, also where there is room for more: then it gives true.
    bool enter_bounded(const char *next, std::size_t most) noexcept
    {
        const std::size_t at = offset_of(next);
        if (most >= limit_ - at) {
            return false;
        }
        limit_ = at + most;
        in_region_ = false;
        end_ = bytes_ + std::min(available_, limit_);
        return true;
    }
    // What is before `end` is looked at again.
    void enter_back(std::size_t end) noexcept
    {
        limit_ = end;
        end_ = bytes_ + end;
        in_region_ = true;
    }

    // Whether streams have begun to go along: what is read of a list whose elements have some is of no more use then.
    bool removes_elements() const noexcept { return unfinished_->window_ != nullptr; }
    // Removes elements that have been read; gives the next byte.
    const char *remove_from(std::size_t begin, const char *next) noexcept;

    // The places of what was open when the last reading ended.
    template <class Places>
    void take(Places &at) noexcept
    {
        if (!unfinished_->open_.empty()) {
            unfinished_->take(at);
        }
    }

    template <class Places>
    [[gnu::cold]] void keep(const Places &at) noexcept
    {
        if (result_ != reading::unfinished) {
            return;
        }
        try {
            unfinished_->keep(at);
        } catch (const std::bad_alloc &) {
            end_wrong(at_, "", "there is no memory to go on later");
        }
    }

    const char *scan_begin(const char *begin) noexcept
    {
        return std::max(begin, bytes_ + std::exchange(unfinished_->scanned_, 0));
    }

    // What is to be said of a run that does not end with a byte which is not in its set, or is too short or too long.
    struct run_facts {
        bool (*contains)(char);
        std::size_t least;
        std::uint64_t most;
    };

    const char *until(const char *next, message_part &part, std::string_view terminator, std::uint64_t most,
                      const char *field) noexcept;
    bool keeps_streams() const noexcept { return unfinished_->keeps_streams_; }
    const char *rest(const char *next, message_part &part, std::uint64_t most, const char *field) noexcept;
    const char *stream(const char *next, message_part &part, std::uint64_t size, const char *field,
                       std::uint64_t most) noexcept;
    const char *stream_rest(const char *next, message_part &part, std::uint64_t most, const char *field) noexcept;
    const char *passes(const char *next, message_part &part, const stream_ahead &stream, const char *field) noexcept;
    int peek_beyond(const char *next) const noexcept;

    // The state of the token that begins here, as the last reading has left it, and where it goes on.
    int token_state(const char *begin, const char *&next) noexcept
    {
        if (unfinished_->scanned_ <= offset_of(begin)) {
            return 0;
        }
        next = scan_begin(begin);
        return static_cast<int>(unfinished_->state_);
    }

    // What ends the reading: `next` is the next byte that was to be read.
    [[gnu::cold]] void end_missing(const char *next, std::uint64_t count, const char *field) noexcept;
    [[gnu::cold]] void end_missing(const char *next, std::span<const field_size> fields) noexcept;
    [[gnu::cold]] void end_wrong(std::size_t offset, const char *field, const char *text) noexcept;
    [[gnu::cold]] void end_within(const char *field, std::size_t index) noexcept;
    [[gnu::cold]] void end_waiting(const char *next, std::size_t scanned, std::uint64_t count,
                                   const char *field) noexcept;
    [[gnu::cold]] void end_in_token(const char *begin, const char *next, int state, const char *field) noexcept;
    [[gnu::cold]] void end_undecided(const char *next) noexcept { end_waiting(next, 0, 1, ""); }
    [[gnu::cold]] void end_in_digits(const char *begin, const char *field) noexcept;
    [[gnu::cold]] void end_with(const char *next, const char *field) noexcept;
    [[gnu::cold]] void end_literal(const char *next, std::string_view wanted, const char *field) noexcept;
    [[gnu::cold]] void end_unterminated(const char *next, const char *scanned, std::string_view terminator,
                                        std::uint64_t most, const char *field) noexcept;
    [[gnu::cold]] const char *run_ends(message_part &part, const char *begin, const char *end, const run_facts &run,
                                       const char *field) noexcept;

    const char *bytes_;
    // After the last byte that has come and belongs to what is read.
    const char *end_ = nullptr;
    std::size_t limit_ = 0;
    std::size_t available_;
    // What a look back must be before.
    std::uint32_t floor_ = most_bytes;
    unfinished_message *unfinished_;
    // Whether `limit_` is the end of a field; else it is how large the message may be.
    bool in_region_ = false;
    // Whether it has stopped before a stream.
    bool stops_ = false;
    reading result_ = reading::whole;
    std::uint32_t depth_ = 0;
    bool is_end_;
    // Whether an earlier reading of the same message has noted anything.
    bool resumes_;
    field_depths depths_;
    // Where the reading has ended; no value before.
    std::size_t at_;
    // These have a value where the reading is unfinished, and `fault_` where the bytes are wrong.
    std::size_t wanted_;
    union {
        stream_ahead ahead_;
        message_fault fault_;
    };
};

/// Goes along a message that is read so.
using message_cursor = cursor_of<message_reader>;

template <class Message>
reading message_reader::read(typename Message::places &at, std::size_t begin) noexcept
{
    limit_ = begin + std::min(Message::facts.max_size, most_bytes - begin);
    end_ = bytes_ + std::min(available_, limit_);
    try {
        if (const char *const after = Message::parse(message_cursor(*this, bytes_ + begin), at)) [[likely]] {
            at_ = static_cast<std::size_t>(after - bytes_);
            static_cast<message_places &>(at).whole = {static_cast<std::uint32_t>(begin), position()};
            if (resumes_) [[unlikely]] {
                unfinished_->is_open_ = false;
            }
            return reading::whole;
        }
    } catch (const std::bad_alloc &) {
        // A formula makes a text.
        end_wrong(0, "", "there is no memory to compute what it says");
    }
    end_within(Message::facts.name, message_fault::no_index);
    unfinished_->is_open_ = result_ == reading::unfinished;
    return result_;
}

} // namespace flux
