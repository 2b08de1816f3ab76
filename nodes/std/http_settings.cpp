#include "http_settings.h"

#include "http_text.h"

#include "flux/io.hpp"
#include "flux/log.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace http {

using namespace http_text;
using std::string_view;

std::string client_of(const request &one)
{
    const std::vector<std::string> &proxies = one.by().proxies;
    std::string client = host_of(one.peer().text());
    const auto is_proxy = [&](const std::string &host) {
        return std::find(proxies.begin(), proxies.end(), host) != proxies.end();
    };
    if (proxies.empty() || !is_proxy(client)) {
        return client;
    }
    std::vector<std::string> way;
    for (const auto &each : one.message().head().fields_()) {
        if (is_same(each.name(), "x-forwarded-for")) {
            any_element(each.value(), [&](string_view host) {
                way.emplace_back(host.substr(0, 64));
                return false;
            });
        }
    }
    while (!way.empty() && is_proxy(client)) {
        client = std::move(way.back());
        way.pop_back();
    }
    return client;
}

namespace {

std::string line_of(const settings &by, const std::string &client, const request *one, const given_answer &what)
{
    std::string version = "1.1";
    if (one != nullptr) {
        version = one->stream() != nullptr ? "2.0" : "1." + std::string(one->message().head().minor_version());
    }
    logged_answer line{client, clock_texts::now().log_date, "-", "-", version, {}, {}, {}, what.status, what.bytes};
    if (one != nullptr) {
        line.method = one->method();
        line.target = one->target();
        line.host = one->authority();
        line.referer = one->field("referer");
        line.agent = one->field("user-agent");
    }
    if (what.begun != flux::never) {
        line.took = std::chrono::duration_cast<std::chrono::microseconds>(flux::running_io().now() - what.begun);
    }
    line.error = what.error == 0 ? "" : ::strerrorname_np(what.error);
    return by.log == settings::log_kind::json ? json_line(line) : common_line(line);
}

} // namespace

void log_answer(const settings &by, const std::string &client, const request *one, const given_answer &what) noexcept
{
    try {
        if (by.logs()) {
            flux::log_lines(line_of(by, client, one, what));
        }
    } catch (const std::bad_alloc &) {
        flux::log_line("there is no memory for a line of the access log");
    }
}

void log_answer(const request &one, const given_answer &what) noexcept
{
    if (one.by().logs()) [[unlikely]] {
        try {
            log_answer(one.by(), client_of(one), &one, what);
        } catch (const std::bad_alloc &) {
            flux::log_line("there is no memory for a line of the access log");
        }
    }
}

flux::moment settings::send_deadline() const
{
    return send.count() == 0 ? flux::never : flux::running_io().last_look() + send;
}

flux::moment settings::send_deadline_from_now() const
{
    return send.count() == 0 ? flux::never : flux::running_io().now() + send;
}

} // namespace http
