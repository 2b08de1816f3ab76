/// \file
/// Reading messages that a program declares, for nodes of your own: `flux::read_message<memcached::command>(*server)`.
#pragma once

#include "flux/connection.hpp"
#include "flux/message/typed_parse.hpp"
#include "flux/reading.hpp"

#include <cerrno>

namespace flux {

/// The next message of this class. What the peer has sent beyond it stays for the next call. Fails with EBADMSG where
/// the bytes are no such message, which is logged: then the connection is of no more use. Otherwise it fails as the
/// calls of `reading.hpp` do, in the middle of a message as these in the middle of a line.
template <class Message>
io_result<Message> read_message(connection &from, moment deadline = never) noexcept
{
    typed_parse<Message> parse;
    const io_result<void> read = from.receive_message(parse, deadline);
    if (read.has_value()) [[likely]] {
        return parse.message();
    }
    if (read.error() == EBADMSG) {
        log_wrong_message(from.peer(), parse);
    }
    return unexpected(read.error());
}

} // namespace flux
