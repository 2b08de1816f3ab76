// Requests: the head of an HTTP/1.1 request (RFC 9112), and what it asks of this server.
//
// The parser is Boost.Beast's: it is kept up with Boost, refuses what is not exactly HTTP, and never reads past what it
// is given. Here is only what the server makes of a request that it has parsed.
#pragma once

#include "image.h"

#include <cstddef>
#include <string_view>

namespace image {

/// The length of the request head at the start of `input`, the empty line at its end included; 0 where that has not
/// been received yet. Lines may end in LF alone here, so that such a request is found and refused, not waited for.
std::size_t head_length(std::string_view input);

/// What parse_request() makes of the start of a connection's input.
struct parsed_request {
    /// 0, or the HTTP status that the client is to be told: it sent no request that this server serves.
    int refusal = 0;
    /// How much of the input the request takes.
    std::size_t length = 0;
    /// Whether the connection is to be closed after the answer.
    bool close = true;
};

/// Parses the request at the start of `input`, which is all that there will be of it, into `request`.
/// Where it is refused, `request` is unspecified and the connection cannot be used further.
parsed_request parse_request(std::string_view input, image_tag &request);

} // namespace image
