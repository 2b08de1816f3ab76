// The source of requests, and what it answers itself. The sections named there are those of RFC 9110.
#pragma once

#include "http.flux.h"

#include "flux/message/parse.hpp"

namespace http {

/// Which status bytes get that are no request. It has the bytes.
int status_of(const flux::message_parse &wanted);

} // namespace http
