/// \file
/// One message while it is read: how far its reader has come, whatever its class. So what receives messages is written
/// once, and knows no class.
#pragma once

#include "flux/message.hpp"
#include "flux/message/stream_ahead.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace flux {

struct message_fault;

/// The parse of a message of one class, from its first byte on.
class message_parse
{
  public:
    enum class state : unsigned char {
        /// It needs more bytes.
        unfinished,
        whole,
        /// These bytes are no such message.
        wrong,
    };

    virtual ~message_parse() = default;
    message_parse &operator=(const message_parse &) = delete;

    /// Reads a message from its first byte on; or, after `unfinished`, reads on, with all bytes that there are so far:
    /// those of the last call, which may be at another place now, and more. `is_end` where no others come.
    virtual state read(std::string_view so_far, bool is_end) noexcept = 0;

    /// Where `read` or `read_on` have given `whole`: the stream that comes next, so that only what stands before it is
    /// whole; null where all of the message is. Of messages with `message_facts::has_streams` alone.
    virtual const stream_ahead *ahead() const noexcept { return nullptr; }

    /// Goes on where a stream comes next, once that has gone along, and after `unfinished`. The first `filled` bytes of
    /// the window are those of the message that have come, without its streams; of them elements of lists with streams
    /// are removed when they have been read.
    virtual state read_on(std::span<char> /*window*/, std::size_t & /*filled*/, bool /*is_end*/) noexcept
    {
        return state::wrong;
    }

    /// When it is whole, how many bytes are the message.
    std::size_t size() const noexcept { return count_; }
    /// When it is unfinished, how many more it needs at least: 1 or more.
    std::size_t wanted() const noexcept { return count_; }
    /// When it is wrong, what is, and where: `byte 3, value_len: …`. Throws `std::bad_alloc`.
    virtual std::string fault() const = 0;
    /// The same for programs; null where that is not known.
    virtual const message_fault *what_is_wrong() const noexcept { return nullptr; }

    /// What all messages of its class have in common: one object for each class.
    const message_facts &facts() const noexcept { return facts_; }

    /// Another object, which reads on from here when there are more bytes; this one is to read the next message, also
    /// where that throws `std::bad_alloc`.
    virtual std::unique_ptr<message_parse> keep() = 0;
    /// Takes over what one of the same class has come to, which is of no more use.
    virtual void take_over(message_parse &kept) noexcept = 0;

    /// Where it is whole, its bytes, once somebody has put them here; where it is wrong, all that had come.
    message_bytes bytes;

  protected:
    explicit message_parse(const message_facts &facts) noexcept : facts_(facts) {}
    message_parse(message_parse &&) noexcept = default;

    // What `size` and `wanted` give.
    std::size_t count_ = 0;

  private:
    const message_facts &facts_;
};

} // namespace flux
