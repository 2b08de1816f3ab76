// A request of HTTP, and what nodes of your own answer.
#pragma once

#include "files.h"
#include "http_message.flux.messages.h"

#include "flux/body.hpp"
#include "flux/connection.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace http {

struct response;
class exchange;
struct settings;

/// What is known of a request after one look at its head.
struct head_facts {
    std::string_view method;
    std::string_view target;
    /// Whether its client speaks HTTP/1.0.
    bool is_old = false;
    /// Whether its connection may be used again.
    bool keeps = false;
    /// Whether its client waits for `100 Continue`.
    bool expects = false;
    /// Whether it has one of the fields of conditional requests, or a range.
    bool has_conditions = false;
    /// What is wrong with it, as a status; 0 where nothing is.
    int refused = 0;
};

/// A request: of HTTP/1, or a stream of HTTP/2, which has the same fields here as if it had come by HTTP/1.1. Copies
/// are of the same one. Its texts are valid as long as a copy is.
class request
{
  public:
    request() = default;
    request(flux::connection &on, const settings &by, http_message::request &&message);
    request(std::shared_ptr<exchange> of, const settings &by, http_message::request &&message);

    /// As it came: GET.
    std::string_view method() const noexcept { return facts_.method; }
    /// As it came: a path with its query, or a whole URI.
    std::string_view target() const noexcept { return facts_.target; }
    /// What stands behind the `?`, as it came.
    std::string_view query() const;
    /// The host that is asked for, in the target or else in the field Host, with its port.
    std::string_view authority() const;
    /// The first field of this name, whatever the case of letters; empty where there is none.
    std::string_view field(std::string_view name) const;
    /// All fields of this name as one list, in the order in which they came (RFC 9110, 5.3). Throws `std::bad_alloc`.
    std::string list(std::string_view name) const;
    /// The first field of this name behind its content, whatever the case of letters, once all content has been
    /// pulled: a trailer. Empty where there is none. Throws `std::bad_alloc`.
    std::string trailer(std::string_view name) const;
    /// As it came.
    const http_message::request &message() const noexcept { return message_; }
    bool is_head() const { return method() == "HEAD"; }

    /// What its client sends with it; null where that is nothing. The first pull sends `100 Continue` to a client that
    /// waits for it. Fails with EMSGSIZE where it is larger than its listener allows. Throws `std::bad_alloc`.
    std::shared_ptr<flux::body> body() const;

    /// Its connection, for nodes that speak another protocol on it from now on: nobody answers the request. Null where
    /// it is answered already, or is a stream among others.
    flux::connection *take_connection() const;

    /// The address from which it came.
    const flux::address &peer() const noexcept;

    // For nodes of this module.

    /// Its connection; null where it is a stream.
    flux::connection *connection() const noexcept { return on_; }
    /// Its stream; null where it is of HTTP/1.
    exchange *stream() const noexcept { return stream_.get(); }
    const head_facts &facts() const noexcept { return facts_; }
    /// What its listener states, which stays.
    const settings &by() const noexcept { return *by_; }

  private:
    flux::connection *on_ = nullptr;
    const settings *by_ = nullptr;
    std::shared_ptr<exchange> stream_;
    http_message::request message_;
    head_facts facts_;
};

/// Answers with a head, whose `content` is not used, and a body that is sent while it is pulled: of `size` bytes, or in
/// chunks where its size is not known. 0 or an error; then the client has got less than was promised, and the
/// connection is closed.
int send_stream(const request &to, const response &head, flux::body &content);
int send_stream(const request &to, const response &head, flux::body &content, std::uint64_t size);

// The nodes.

bool is_get(const request &one);
bool is_post(const request &one);
bool is_put(const request &one);
bool is_deletion(const request &one);

int Listen(const flux::endpoint &at, long idle_ms, long first_byte_ms, long head_ms, long request_ms, long send_ms,
           std::size_t body, const char *log, const char *proxies, const char *unix_mode, const char *certificate,
           const char *key, const char *ticket_key, const char *process_certificate, const char *process_key,
           const char *tls_at, request &next, std::string &path);
void Method(const request &of, std::string &method);
void Host(const request &of, std::string &host);
void Field(const char *name, const request &of, std::string &value);
void Trailer(const char *name, const request &of, std::string &value);
void Query(const request &of, std::string &query);
void Client(const request &of, std::string &client);
int Content(const request &of, std::string &content);
int Send(const request &to, const files::file &file);
int Reply(const request &to, const response &with);
int SendText(int status, const char *type, const request &to, const std::string &content);
int Refuse(int status, const request &to);
int NotAllowed(const char *methods, const request &to);
int Redirect(int status, const request &to, const std::string &location);
int NotFound(const request &to, int error);
int Failed(const request &to, int error);

} // namespace http
