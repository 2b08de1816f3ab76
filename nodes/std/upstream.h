// Connections to servers, which flows borrow: the C++ interface for your own nodes.
#pragma once

#include "flux/connection.hpp"
#include "flux/message/exchange.hpp"
#include "flux/read_message.hpp"
#include "flux/send_message.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace upstream {

/// A number of connections or requests, for options. A value outside the bounds becomes the nearest bound.
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

/// Limits of the connections to one server. The first flow that borrows one sets them. A time of 0 means no limit.
struct limits {
    count<1> most = 64;
    count<0> most_idle = 64;
    std::chrono::milliseconds idle{30'000};
    std::chrono::milliseconds connect{10'000};
    std::chrono::milliseconds wait{10'000};
    /// The limit of pending requests on one connection.
    count<1> pipeline = 1;
};

/// Lends the calling flow a connection to `HOST:PORT`. The flow gives it back with `give_back`. The DNS servers in
/// `servers` resolve the name, as in dns.h. Throws `std::bad_alloc`.
flux::io_result<flux::connection *> borrow(const std::string &to, const limits &of, const char *servers = "");

/// Whether a call with this error may have failed because its connection had ended.
bool has_ended(int error) noexcept;

/// Whether input from the server, or the end of it, has arrived.
bool has_said_something(flux::connection &server) noexcept;

/// Makes the parse of a reply, at its beginning.
using begin_reply = std::unique_ptr<flux::message_parse> (*)();

/// Reads the reply to the last request on the connection and drops interim replies. Fails as `flux::read_message` does,
/// and with EPROTO after too many interim replies.
template <class Reply>
flux::io_result<Reply> read_reply(flux::connection &server)
{
    for (int count = 0; count <= flux::most_interim_replies; ++count) {
        flux::io_result<Reply> reply = flux::read_message<Reply>(server);
        if (!reply.has_value() || flux::role_of(*reply) != flux::message_role::interim) {
            return reply;
        }
    }
    return flux::unexpected(EPROTO);
}

/// As `call`, for a request and a reply without streams. Other flows may use the connection at the same time. Returns
/// the parse of the whole reply. Throws `std::bad_alloc`.
flux::io_result<std::unique_ptr<flux::message_parse>> call_in_line(const std::string &to, const limits &of,
                                                                   const char *servers, const flux::message &request,
                                                                   bool is_idempotent, begin_reply begin);

/// As `call`, over a connection that no other flow uses, and without a retry.
template <class Reply>
flux::io_result<Reply> call_alone(const std::string &to, const limits &of, const char *servers,
                                  const flux::message &request)
{
    const flux::io_result<flux::connection *> borrowed = borrow(to, of, servers);
    if (!borrowed.has_value()) {
        return flux::unexpected(borrowed.error());
    }
    flux::connection &server = **borrowed;
    const flux::request_facts asked = flux::request_of(request);
    server.expect(asked.asks);
    const flux::io_result<void> sent = flux::send_message(server, request);
    // A server may reply before it has the whole request, and end the connection (RFC 9112, 9.5 and 9.6).
    if (!sent.has_value() && !(has_ended(sent.error()) && has_said_something(server))) {
        server.close();
        return flux::unexpected(sent.error());
    }
    flux::io_result<Reply> reply = read_reply<Reply>(server);
    if (!reply.has_value()) {
        server.close();
        return sent.has_value() ? std::move(reply) : flux::unexpected(sent.error());
    }
    // The connection can serve another exchange only if the server sends nothing more for this one.
    const bool is_all = flux::role_of(*reply) == flux::message_role::last && asked.replies == 1;
    if (!sent.has_value() || !is_all || asked.ends_connection) {
        server.spend();
    }
    server.give_back_behind_streams();
    return reply;
}

/// Sends a request to `HOST:PORT` over a connection of the pool, and reads the reply, a message of this class. The pool
/// gets the connection back afterwards. If anything fails, `call` closes the connection. `call` drops interim replies.
/// Fails as `borrow`, sending and `flux::read_message` do, and with EINVAL for a request that states that it has no
/// reply. If the connection ends before the reply has arrived, `call` sends the request once more in these cases: it
/// `is_idempotent`, it states so itself (`may_repeat`), or flows share the connection and no byte was sent. `call`
/// never sends a request with streams again, because its streams are gone. Throws `std::bad_alloc`.
template <class Reply>
flux::io_result<Reply> call(const std::string &to, const limits &of, const char *servers, const flux::message &request,
                            bool is_idempotent = false)
{
    const flux::request_facts asked = flux::request_of(request);
    if (asked.replies == 0) {
        return flux::unexpected(EINVAL);
    }
    is_idempotent = is_idempotent || asked.may_repeat;
    const bool is_all_there = request.stream() == nullptr;
    if constexpr (!flux::has_streams<Reply>()) {
        if (of.pipeline > 1 && is_all_there && asked.replies == 1 && !asked.ends_connection &&
            !asked.may_end_messages) {
            const auto begin = []() -> std::unique_ptr<flux::message_parse> {
                return std::make_unique<flux::typed_parse<Reply>>();
            };
            const auto come = call_in_line(to, of, servers, request, is_idempotent, begin);
            if (!come.has_value()) {
                return flux::unexpected(come.error());
            }
            return static_cast<flux::typed_parse<Reply> &>(**come).message();
        }
    }
    flux::io_result<Reply> reply = call_alone<Reply>(to, of, servers, request);
    if (!reply.has_value() && is_idempotent && is_all_there && has_ended(reply.error())) {
        return call_alone<Reply>(to, of, servers, request);
    }
    return reply;
}

/// The node `Exchange`, for replies of this class.
template <class Reply>
int Exchange(count<1> most, count<0> most_idle, long idle_ms, long connect_ms, long wait_ms, count<1> pipeline,
             bool is_idempotent, const char *servers, const char *to, const flux::message &request, Reply &reply)
{
    using std::chrono::milliseconds;
    const limits of{most, most_idle, milliseconds(idle_ms), milliseconds(connect_ms), milliseconds(wait_ms), pipeline};
    return flux::take(call<Reply>(to, of, servers, request, is_idempotent), reply);
}

} // namespace upstream
