// Connections that flows borrow, for nodes of your own.
#pragma once

#include "flux/connection.hpp"

#include <chrono>
#include <string>

namespace upstream {

/// What holds for the connections to one server. The first who borrows one decides. A time of 0 is no limit.
struct limits {
    int most = 64;
    int most_idle = 64;
    std::chrono::milliseconds idle{30'000};
    std::chrono::milliseconds connect{10'000};
    std::chrono::milliseconds wait{10'000};
};

/// A connection to `HOST:PORT` for the calling flow, which gives it back by `give_back`. `servers` are asked for its
/// name, as in dns.h. Throws `std::bad_alloc`.
flux::io_result<flux::connection *> borrow(const std::string &to, const limits &of, const char *servers = "");

} // namespace upstream
