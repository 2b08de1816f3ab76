// What stands behind the chunks of a message.
#pragma once

#include "flux/message.hpp"

#include <string_view>
#include <vector>

namespace http_message {

class field;

/// The node of that name.
int Trailers(const flux::message &of, std::vector<field> &trailers);

/// The same of bytes: the end of a chunk, if they begin with one, chunks up to an empty one, and the fields behind it.
/// None where they are anything else. Throws `std::bad_alloc`.
std::vector<field> trailers_behind(std::string_view chunks);

} // namespace http_message
