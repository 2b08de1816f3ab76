// Replies: the head of an HTTP/1.1 response (RFC 9112, RFC 9110), written without allocating anything, so that a client
// can be told that memory has run out.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace image {

/// What is said in a response's head.
struct reply {
    /// The status code.
    int status;
    /// The media type of the body.
    const char *content_type;
    /// The length of the body in bytes; that of the body that GET would get, where none is sent as HEAD was asked.
    std::size_t content_length;
    /// Whether the connection is closed after it.
    bool close;
};

/// Room for a head.
using head_buffer = std::array<char, 512>;

/// Writes the head of `reply`, with the empty line at its end, into `buffer`. The result points into it.
std::string_view write_head(const reply &reply, head_buffer &buffer);

/// `Not Found` for 404. `Internal Server Error` for what is not a status that this server gives.
const char *reason_of(int status);

/// Room for the page that comes with an error.
using page_buffer = std::array<char, 256>;

/// Writes a page that says what `status` means into `buffer`. The result points into it.
std::string_view write_error_page(int status, page_buffer &buffer);

} // namespace image
