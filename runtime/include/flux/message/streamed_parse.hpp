/// \file
/// The parse of a message while its streams go along. What stands between the streams is read as it comes, and is in a
/// window that stays small: elements of lists that have been read are removed from it, and the bytes of streams are
/// never in it. So the message may be larger than memory.
///
/// It does no I/O: it is shown the bytes that have come, and says of each piece of them what it is.
#pragma once

#include "flux/message/parse.hpp"
#include "flux/message/reader.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace flux {

/// Of one message whose parse stands before its first stream.
class streamed_parse
{
  public:
    enum class kind : unsigned char {
        /// Bytes of a stream.
        content,
        /// Bytes between streams, or after the last.
        framing,
        /// The message is whole: no byte is its.
        ended,
        /// The bytes are no such message.
        wrong,
        /// The message is not whole, and no more bytes come.
        broken_off,
    };
    struct piece {
        kind what;
        /// How many of the bytes it is. Of framing it may be none, where the next piece is another.
        std::size_t size;
    };

    /// `by` has read the head: the bytes before the first stream. Throws `std::bad_alloc`.
    streamed_parse(message_parse &by, std::span<const std::byte> head);

    /// What the first of the bytes that have come next are: of them the piece is gone through. None have come where the
    /// peer has ended its input. Throws `std::bad_alloc`.
    piece next(std::span<const std::byte> come);

    /// How many bytes of content come next at least: they may be received elsewhere and told of by `passed`.
    std::uint64_t content_ahead() const noexcept { return in_stream_ && is_known_ ? left_ : 0; }
    /// So many bytes of content have been gone through. Throws `std::bad_alloc`.
    void passed(std::uint64_t count)
    {
        left_ -= count;
        if (left_ == 0) {
            end_stream(false);
        }
    }

    /// Whether the message is whole.
    bool has_ended() const noexcept { return has_ended_; }

    /// Why the bytes are no message. Throws `std::bad_alloc`.
    const message_parse &parse() const noexcept { return *parse_; }

  private:
    piece content(std::span<const std::byte> come);
    piece framing(std::span<const std::byte> come);
    std::size_t read_on(bool is_end);
    void begin_stream() noexcept;
    void end_stream(bool is_end);

    std::unique_ptr<message_parse> parse_;
    // The head, and what has come of the element that is being read.
    std::vector<char> window_;
    std::size_t filled_;
    // Of the stream that goes along now; `is_known_` where it ends after `left_` bytes, and not with the input.
    std::uint64_t left_ = 0;
    bool is_known_ = false;
    bool in_stream_ = false;
    bool has_ended_ = false;
    bool is_wrong_ = false;
};

} // namespace flux
