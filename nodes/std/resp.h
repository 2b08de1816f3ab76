// Lines of words, which one types to a server of Redis, and its replies to protocol errors.
#pragma once

#include <string_view>

namespace flux {
class message_parse;
}

namespace resp {

class command;

/// The node of that name.
int Split(const command &line, command &array);

/// The reply of redis-server to bytes that are no `resp.command`, such as `-ERR Protocol error: invalid bulk length`,
/// with CR and LF at its end. It is valid until the next call in the same thread.
std::string_view protocol_error(const flux::message_parse &wrong) noexcept;

} // namespace resp
