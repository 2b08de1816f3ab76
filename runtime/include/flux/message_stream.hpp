/// \file
/// The `&stream` fields of a message that a flow was given: their bytes, in order, which the flow pulls from the
/// connection while they come. They are never in memory as a whole: what the flow has not pulled yet, the peer has to
/// keep.
///
///     std::shared_ptr<flux::message_stream> content = request.stream();
///
/// Only the flow that has the connection can pull; for others, and when the connection has been given back or closed,
/// each call fails with EBADF. Where bytes come that are no such message, it fails with EBADMSG; where the peer ends
/// its input too early, with ECONNRESET.
#pragma once

#include "flux/body.hpp"

namespace flux {

/// What comes of a message after its first part.
class message_stream : public body
{
  public:
    /// As `pull`, all that comes of the message as it is on the wire: with what stands between its streams and after
    /// them. One call may be this and the next `pull`.
    virtual io_result<std::size_t> pull_wire(std::span<std::byte> into, moment deadline = never) noexcept = 0;

    /// Whether all of it has been pulled.
    virtual bool has_ended() const noexcept = 0;
};

} // namespace flux
