// Several ranges of a file in one answer.
#pragma once

#include "http.flux.h"

#include "http_text.h"

#include <vector>

namespace http {

/// Answers with these ranges, in their order, each with what it is: `multipart/byteranges` of RFC 9110, 14.6.
int send_ranges(const request &to, const files::file &file, const std::vector<http_text::range> &ranges);

} // namespace http
