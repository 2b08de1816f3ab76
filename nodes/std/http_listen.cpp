#include "http_listen.h"

#include "http_exchange.h"
#include "http_settings.h"
#include "http_stream.h"
#include "http_text.h"
#include "tcp.h"

#include "flux/cannot_serve.hpp"
#include "flux/everlasting.hpp"
#include "flux/flow/flow.hpp"
#include "flux/io/connections.hpp"
#include "flux/process/quantity.hpp"
#include "flux/message/reader.hpp"
#include "flux/strategy/source.hpp"

#include <cerrno>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace http {

using namespace http_text;
using std::string_view;
using std::chrono::milliseconds;

int status_of(const flux::message_parse &wanted)
{
    const flux::message_fault *const fault = wanted.what_is_wrong();
    if (fault == nullptr) {
        return 400;
    }
    const std::string field = fault->field();
    const bool is_long = fault->is_of_size();
    const auto is_in = [&](string_view name) { return field.find(name) != field.npos; };
    if (is_in(".fields")) {
        return is_in("coding") ? 501 : is_long ? 431 : 400;
    }
    if (is_long) {
        return is_in(".target") ? 414 : is_in(".method") ? 501 : 431;
    }
    return is_of_other_version(wanted.bytes.view(), fault->offset) ? 505 : 400;
}

namespace {

class refusals final : public flux::last_words
{
  public:
    explicit refusals(const settings &by) noexcept : by_(by) {}

    string_view to(const flux::connection &bad, int error, const flux::message_parse &wanted) noexcept override
    {
        static thread_local std::string text;
        try {
            const int status = error == ETIMEDOUT ? 408 : error == ENOMEM ? 503 : status_of(wanted);
            text = last_answer(status, false);
            if (by_.logs()) {
                log_answer(by_, host_of(bad.peer().text()), nullptr, {status});
            }
        } catch (const std::bad_alloc &) {
            text.clear();
        }
        return text;
    }

  private:
    const settings &by_;
};

/// What has come on connections of HTTP/2, for the source to give.
struct arrived_requests {
    std::deque<request> all;
};

/// "RFC 9113: 3.4": connections that begin with its preface, of which the rest may be to come.
class http2 final : public flux::other_protocol
{
  public:
    explicit http2(const settings &by) noexcept : by_(by) {}

    std::shared_ptr<flux::multiplexer> begin(flux::connection &on, flux::stream &through, string_view bytes) override
    {
        constexpr string_view preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
        const string_view first = bytes.substr(0, preface.size());
        if (first.size() < sizeof "PRI *" || !preface.starts_with(first)) {
            return nullptr;
        }
        arrived_requests &arrived = flux::running_flow->from().state<arrived_requests>();
        const auto made = std::make_shared<session>(on, by_, through, arrived.all);
        made->begin(bytes);
        return made;
    }

  private:
    const settings &by_;
};

/// A listener, for all sources and connections there.
struct listener {
    explicit listener(settings &&stated) : by(std::move(stated)), told(by), other(by) {}

    const settings by;
    refusals told;
    http2 other;
};

/// The one with these settings, which stays.
listener &listener_of(settings &&stated)
{
    static std::mutex adding;
    static flux::everlasting<std::map<std::vector<std::string>, listener>> known;
    const std::lock_guard alone(adding);
    return (*known).try_emplace(stated.of_connections.lines(), std::move(stated)).first->second;
}

/// The listeners of one source, or of one instance of it.
struct listened {
    flux::endpoint at;
    listener *as;
};

listener *listener_at(const flux::endpoint &at)
{
    for (const listened &each : flux::running_flow->from().state<std::vector<listened>>()) {
        if (each.at == at) {
            return each.as;
        }
    }
    return nullptr;
}

settings::log_kind log_kind_of(const flux::endpoint &at, string_view name)
{
    if (!name.empty() && name != "common" && name != "json" && name != "none") {
        flux::cannot_serve("http.Listen: the access log of " + at.text() +
                           " can be `common`, `json` or `none`, but not `" + std::string(name) + "`");
    }
    return name == "common" ? settings::log_kind::common
           : name == "json" ? settings::log_kind::json
                            : settings::log_kind::none;
}

/// Begins to serve.
listener &listen_at(const flux::endpoint &at, settings &&stated, tls::settings security)
{
    if (stated.send.count() < 0 || stated.send.count() > flux::longest_duration) {
        flux::cannot_serve("http.Listen: the limit `send` of " + at.text() + " is no duration from 0 to 52560000m");
    }
    security.protocols = {"h2", "http/1.1"};
    security.to_plain_http = answer_without_tls;
    tcp::listener_settings &below = stated.of_connections;
    below.layer = tls::layer_at(at, security);
    using kind = settings::log_kind;
    const string_view log = stated.log == kind::common ? "common" : stated.log == kind::json ? "json" : "none";
    below.others = {"head: " + std::to_string(below.message.count()) + "ms",
                    "send: " + std::to_string(stated.send.count()) + "ms", "body: " + std::to_string(stated.body),
                    "log: " + std::string(log)};
    for (const std::string &each : stated.proxies) {
        below.others.push_back("proxy: " + each);
    }
    const std::vector<std::string> spoken = below.layer == nullptr ? std::vector<std::string>{"no TLS"}
                                                                   : security.lines();
    below.others.insert(below.others.end(), spoken.begin(), spoken.end());
    listener &own = listener_of(std::move(stated));
    tcp::serve_at(at, flux::first_given::with_input, own.by.of_connections);
    flux::running_flow->from().state<std::vector<listened>>().push_back({at, &own});
    return own;
}

/// The path of a request that is for a flow; any other is answered at once, with the status that this gives.
int path_of(const request &one, std::string &path)
{
    if (one.facts().refused != 0) {
        return one.facts().refused;
    }
    if (one.method() == "CONNECT") {
        return 405;
    }
    const target_parts parts = parts_of(one.target());
    if (!parts.is_right || (!parts.authority.empty() && !is_authority(parts.authority))) {
        return 400;
    }
    if (parts.path == "*") {
        return 200; // "9.3.7": of the server as a whole
    }
    return decode_path(parts.path, path) ? 0 : 400;
}

} // namespace

int Listen(const flux::endpoint &at, long idle_ms, long first_byte_ms, long head_ms, long request_ms, long send_ms,
           std::size_t body, const char *log, const char *proxies, const char *unix_mode, const char *certificate,
           const char *key, const char *ticket_key, const char *process_certificate, const char *process_key,
           const char *tls_at, request &next, std::string &path)
{
    if (flux::running_flow->in_progress()) {
        return EPERM;
    }
    listener *as = listener_at(at);
    if (as == nullptr) [[unlikely]] {
        as = &listen_at(at,
                        {{milliseconds(idle_ms), milliseconds(first_byte_ms), milliseconds(head_ms),
                          milliseconds(request_ms), unix_mode},
                         milliseconds(send_ms), body, log_kind_of(at, log), words_of(proxies)},
                        tls::settings_of(at, {certificate, key}, {process_certificate, process_key}, tls_at,
                                         ticket_key));
    }
    std::deque<request> &arrived = flux::running_flow->from().state<arrived_requests>().all;
    while (true) {
        if (!arrived.empty()) {
            next = std::move(arrived.front());
            arrived.pop_front();
            if (static_cast<const stream *>(next.stream())->is_gone()) {
                continue;
            }
            const milliseconds limit = next.by().of_connections.request;
            flux::running_flow->set_deadline(limit.count() == 0 ? flux::never : flux::running_io().last_look() + limit);
        } else {
            flux::typed_parse<http_message::request> parse;
            flux::connection *on = nullptr;
            const int error = tcp::next_message(*tcp::served_at(at), on, parse, &as->told, &as->other);
            if (error != 0) {
                return error;
            }
            if (on == nullptr) {
                continue;
            }
            next = request(*on, as->by, parse.message());
        }
        const int status = path_of(next, path);
        if (status == 0) {
            if (const flux::source &from = flux::running_flow->from(); from.keeps_spans()) [[unlikely]] {
                from.continue_trace(*flux::running_flow, next.field("traceparent"));
            }
            exchange_of(next)->begin(next);
            return 0;
        }
        log_answer(next, {status});
        if (next.stream() != nullptr) {
            next.stream()->refuse(status);
        } else {
            next.connection()->close_softly(last_answer(status, next.is_head()));
        }
        flux::running_flow->set_deadline(flux::never); // it was that of this request
    }
}

} // namespace http
