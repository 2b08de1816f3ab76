/// \file
/// The streams of a message that comes on a connection. The connection and the message share it: it outlives the
/// message where nobody pulled all of it, as the next message on the connection begins behind it.
#pragma once

#include "flux/connection.hpp"
#include "flux/message/streamed_parse.hpp"
#include "flux/message_stream.hpp"

#include <span>

namespace flux {

/// Of one message, the last that came on its connection.
class received_stream final : public message_stream
{
  public:
    /// `by` has read the head of the message. Throws `std::bad_alloc`.
    received_stream(connection &from, message_parse &by, std::span<const std::byte> head)
        : from_(from), parse_(by, head)
    {
    }

    io_result<std::size_t> pull(std::span<std::byte> into, moment deadline = never) noexcept override
    {
        return pull_some(into, false, deadline);
    }
    io_result<std::size_t> pull_wire(std::span<std::byte> into, moment deadline = never) noexcept override
    {
        return pull_some(into, true, deadline);
    }
    bool has_ended() const noexcept override { return parse_.has_ended(); }

    /// Nothing: what is left is passed over when the connection is given back.
    void abandon() noexcept override {}

    /// The connection is given back as soon as all has been pulled.
    void give_back_at_end() noexcept { gives_back_ = true; }

    /// As `pull_wire`, for the connection itself, which no flow has any more.
    io_result<std::size_t> pass(std::span<std::byte> into, moment deadline) noexcept
    {
        gives_back_ = false;
        return pull_next(into, true, deadline);
    }

  private:
    io_result<std::size_t> pull_next(std::span<std::byte> into, bool with_framing, moment deadline) noexcept;
    io_result<std::size_t> pull_some(std::span<std::byte> into, bool with_framing, moment deadline) noexcept;
    io_result<std::size_t> receive_content(std::span<std::byte> into, moment deadline);
    io_result<std::size_t> next_piece(std::span<std::byte> into, bool with_framing, moment deadline);
    void end() noexcept;

    connection &from_;
    streamed_parse parse_;
    int error_ = 0;
    bool gives_back_ = false;
};

} // namespace flux
