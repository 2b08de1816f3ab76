// Connections that flows borrow, for nodes of your own.
#pragma once

#include "flux/connection.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

namespace upstream {

/// How many connections there may be: an option that becomes one is held to that.
template <int Least>
class count
{
  public:
    static constexpr std::int64_t least = Least;
    static constexpr std::int64_t most = 1'000'000;

    count(std::int64_t value) noexcept : value_(static_cast<int>(std::clamp(value, least, most))) {}
    operator int() const noexcept { return value_; }

  private:
    int value_;
};

/// What holds for the connections to one server. The first who borrows one decides. A time of 0 is no limit.
struct limits {
    count<1> most = 64;
    count<0> most_idle = 64;
    std::chrono::milliseconds idle{30'000};
    std::chrono::milliseconds connect{10'000};
    std::chrono::milliseconds wait{10'000};
};

/// A connection to `HOST:PORT` for the calling flow, which gives it back by `give_back`. `servers` are asked for its
/// name, as in dns.h. Throws `std::bad_alloc`.
flux::io_result<flux::connection *> borrow(const std::string &to, const limits &of, const char *servers = "");

} // namespace upstream
