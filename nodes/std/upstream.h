// Connections that flows borrow, for nodes of your own.
#pragma once

#include "flux/connection.hpp"
#include "flux/read_message.hpp"
#include "flux/send_message.hpp"

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

/// Sends a request to `HOST:PORT` and reads the reply, a message of this class, over a connection of the pool, which
/// has it back afterwards; where anything fails it is closed. Fails as `borrow`, sending and `flux::read_message` do.
template <class Reply>
flux::io_result<Reply> call(const std::string &to, const limits &of, const char *servers, const flux::message &request)
{
    const flux::io_result<flux::connection *> borrowed = borrow(to, of, servers);
    if (!borrowed.has_value()) {
        return flux::unexpected(borrowed.error());
    }
    flux::connection &server = **borrowed;
    if (const flux::io_result<void> sent = flux::send_message(server, request); !sent.has_value()) {
        server.close();
        return flux::unexpected(sent.error());
    }
    flux::io_result<Reply> reply = flux::read_message<Reply>(server);
    reply.has_value() ? server.give_back_behind_streams() : server.close();
    return reply;
}

/// The node of that name for replies of this class.
template <class Reply>
int Exchange(count<1> most, count<0> most_idle, long idle_ms, long connect_ms, long wait_ms, const char *servers,
             const char *to, const flux::message &request, Reply &reply)
{
    using std::chrono::milliseconds;
    const limits of{most, most_idle, milliseconds(idle_ms), milliseconds(connect_ms), milliseconds(wait_ms)};
    return flux::take(call<Reply>(to, of, servers, request), reply);
}

} // namespace upstream
