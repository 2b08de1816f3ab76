// The source of requests, and what it answers itself. The sections named here are those of RFC 9110.

#include "http.flux.h"

#include "http_answer.h"
#include "http_settings.h"
#include "http_text.h"
#include "tcp.h"

#include "flux/io/connections.hpp"
#include "flux/message/reader.hpp"

#include <cerrno>
#include <chrono>
#include <new>

namespace http {

using namespace http_text;
using std::string_view;
using std::chrono::milliseconds;

namespace {

/// Which status bytes get that are no request.
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

class refusals final : public flux::last_words
{
  public:
    string_view to(const flux::connection &bad, int error, const flux::message_parse &wanted) noexcept override
    {
        static thread_local std::string text;
        try {
            const int status = error == ETIMEDOUT ? 408 : status_of(wanted);
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
    static refusals told;
    static const settings &all = settings_of({{milliseconds(idle_ms), milliseconds(first_byte_ms),
                                               milliseconds(head_ms), milliseconds(request_ms), layer_of},
                                              milliseconds(send_ms), body, log_kind_of(log), words_of(proxies),
                                              unix_mode,
                                              {certificate, key, tls_at, ticket_key, {"http/1.1"},
                                               answer_without_tls}});
    while (true) {
        flux::typed_parse<http_message::request> parse;
        flux::connection *on = nullptr;
        const int error = tcp::next_message(at, all.limits, all.unix_mode.c_str(), on, parse, &told);
        if (error != 0) {
            return error;
        }
        next = request(*on, parse.message());
        const int status = path_of(next, path);
        if (status == 0) {
            exchange_of(next)->begin(next);
            return 0;
        }
        log_where_wanted(next, status, 0);
        on->close_softly(last_answer(status, next.is_head()));
    }
}

} // namespace http
