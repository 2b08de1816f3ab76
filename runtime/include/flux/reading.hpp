/// \file
/// Reading: lines and counted bytes of a connection, each whole or not at all. What the peer has sent beyond them stays
/// for the next call. Where such a call fails because its time is over, what has come so far stays too.
///
/// They fail as `receive` does. If the peer ends its input before the first byte, a connection from a client fails with
/// `end_of_input`, which is not counted as a failure of the flow, and a connection that the flow made to a server fails
/// with ENODATA, because an answer is missing. In the middle of a line the error is ECONNRESET.
#pragma once

#include "flux/connection.hpp"

#include <cstddef>
#include <string>

namespace flux {

/// The next line, without the line feed, or the carriage return and line feed, that ends it. Fails with EMSGSIZE if it
/// has more than `most` bytes; then the connection is of no further use. Throws `std::bad_alloc`.
io_result<std::string> read_line(connection &from, std::size_t most, moment deadline = never);

/// The next `count` bytes. Throws `std::bad_alloc`.
io_result<std::string> read_exactly(connection &from, std::size_t count, moment deadline = never);

/// For who has received what is no message: logs whose it was, what it should have been, and what is wrong with it.
/// There is no more than one such line a second for each node.
void log_wrong_message(const connection &from, const message_parse &as) noexcept;

} // namespace flux
