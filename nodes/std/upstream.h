// Connections that flows borrow, for nodes of your own.
#pragma once

#include "flux/connection.hpp"

#include <string>

namespace upstream {

/// How many connections there are to one server, and for how long one is kept that nobody uses; 0 for no limit.
struct limits {
    int most = 64;
    std::chrono::milliseconds idle{30'000};
};

/// A connection for the calling flow. Throws `std::bad_alloc`.
flux::io_result<flux::connection *> borrow(const flux::address &to, const limits &within, flux::moment deadline);

/// Gives it back. EBADF where the flow has not borrowed it.
flux::io_result<void> give_back(flux::connection *used);

} // namespace upstream
