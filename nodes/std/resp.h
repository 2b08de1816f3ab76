// Lines of words, which one types to a server of Redis.
#pragma once

namespace resp {

class command;

/// The node of that name.
int Split(const command &line, command &array);

} // namespace resp
