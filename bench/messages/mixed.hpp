/// \file
/// Requests as a server for many sees them: no two alike, so that no processor knows beforehand where the next field
/// ends. One request that is read again and again is learnt after a few turns, branch by branch.
#pragma once

#include <cstddef>
#include <string>

/// So many HTTP requests without bodies, one after the other; always the same.
std::string mixed_requests(std::size_t count);
