#include "http_listen.h"

#include "http_exchange.h"
#include "http_settings.h"
#include "http_stream.h"
#include "http_text.h"
#include "tcp.h"

#include "flux/flow/flow.hpp"
#include "flux/io/connections.hpp"
#include "flux/message/reader.hpp"
#include "flux/strategy/source.hpp"

#include <cerrno>
#include <chrono>
#include <deque>
#include <memory>
#include <new>
#include <utility>

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
    string_view to(const flux::connection &bad, int error, const flux::message_parse &wanted) noexcept override
    {
        static thread_local std::string text;
        try {
            const int status = error == ETIMEDOUT ? 408 : error == ENOMEM ? 503 : status_of(wanted);
            text = last_answer(status, false);
            if (all_settings().log != settings::log_kind::none) {
                log_answer(host_of(bad.peer().text()), nullptr, status, 0);
            }
        } catch (const std::bad_alloc &) {
            text.clear();
        }
        return text;
    }
};

/// TLS where a certificate is given.
flux::stream_layer *layer_of(const flux::endpoint &at)
{
    return tls::layer_at(at, all_settings().security);
}

/// What has come on connections of HTTP/2, for the source to give.
struct arrived_requests {
    std::deque<request> all;
};

/// "RFC 9113: 3.4": connections that begin with its preface, of which the rest may be to come.
class http2 final : public flux::other_protocol
{
  public:
    std::shared_ptr<flux::multiplexer> begin(flux::connection &on, flux::stream &through, string_view bytes) override
    {
        constexpr string_view preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
        const string_view first = bytes.substr(0, preface.size());
        if (first.size() < sizeof "PRI *" || !preface.starts_with(first)) {
            return nullptr;
        }
        arrived_requests &arrived = flux::running_flow->from().state<arrived_requests>();
        const auto made = std::make_shared<session>(on, through, arrived.all);
        made->begin(bytes);
        return made;
    }
};

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

int Next(long idle_ms, long first_byte_ms, long head_ms, long request_ms, long send_ms, std::size_t body,
         const char *log, const char *proxies, const char *unix_mode, const char *certificate, const char *key,
         const char *tls_at, const char *ticket_key, const flux::endpoint &at, request &next, std::string &path)
{
    if (flux::running_flow->in_progress()) {
        return EPERM;
    }
    static refusals told;
    static http2 other;
    static const settings &all = settings_of({{milliseconds(idle_ms), milliseconds(first_byte_ms),
                                               milliseconds(head_ms), milliseconds(request_ms), layer_of},
                                              milliseconds(send_ms), body, log_kind_of(log), words_of(proxies),
                                              unix_mode,
                                              {certificate, key, tls_at, ticket_key, {"h2", "http/1.1"},
                                               answer_without_tls}});
    std::deque<request> &arrived = flux::running_flow->from().state<arrived_requests>().all;
    while (true) {
        if (!arrived.empty()) {
            next = std::move(arrived.front());
            arrived.pop_front();
            if (static_cast<const stream *>(next.stream())->is_gone()) {
                continue;
            }
            const milliseconds limit = all.limits.request;
            flux::running_flow->set_deadline(limit.count() == 0 ? flux::never : flux::running_io().last_look() + limit);
        } else {
            flux::typed_parse<http_message::request> parse;
            flux::connection *on = nullptr;
            const int error = tcp::next_message(at, all.limits, all.unix_mode.c_str(), on, parse, &told, &other);
            if (error != 0) {
                return error;
            }
            if (on == nullptr) {
                continue;
            }
            next = request(*on, parse.message());
        }
        const int status = path_of(next, path);
        if (status == 0) {
            if (const flux::source &from = flux::running_flow->from(); from.keeps_spans()) [[unlikely]] {
                from.continue_trace(*flux::running_flow, next.field("traceparent"));
            }
            exchange_of(next)->begin(next);
            return 0;
        }
        log_where_wanted(next, status, 0);
        if (next.stream() != nullptr) {
            next.stream()->refuse(status);
        } else {
            next.connection()->close_softly(last_answer(status, next.is_head()));
        }
        flux::running_flow->set_deadline(flux::never); // it was that of this request
    }
}

} // namespace http
