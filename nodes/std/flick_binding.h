// What a channel is bound to, as it is said outside of the program.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace flick {

/// What a channel is bound to.
struct binding {
    bool connects = false;
    // How many clients make a run together.
    std::size_t joined = 1;
    std::vector<std::string> addresses;
};

/// What such a text binds the channel of this name to (`flick.flux`). Where it says nothing that could be, the server
/// says so and ends.
binding read_binding(const std::string &channel, bool is_array, const char *text);

/// The parts of a text between these.
std::vector<std::string> split(std::string_view text, std::string_view by);

/// Ends the server where a channel is bound to more connections than its process may have.
void limit(const binding &of, const std::string &channel, std::size_t most);

} // namespace flick
