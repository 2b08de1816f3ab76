// The source of commands.
#pragma once

#include "flux/address.hpp"
#include "flux/connection.hpp"

namespace resp {
class command;
}

// The next command of any client.
int NextCommand(const flux::endpoint &at, long idle_ms, long first_byte_ms, long message_ms, long request_ms,
                flux::connection *&connection, resp::command &message);
