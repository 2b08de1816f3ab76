#include "http_settings.h"

#include "http_text.h"

#include "flux/io.hpp"
#include "flux/log.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace http {

using namespace http_text;
using std::string_view;
using std::chrono::milliseconds;

namespace {

std::atomic<const settings *> known_settings{nullptr};

} // namespace

const settings &settings_of(settings &&given)
{
    static const settings all = std::move(given);
    known_settings.store(&all, std::memory_order_release);
    return all;
}

const settings &all_settings() noexcept
{
    return *known_settings.load(std::memory_order_acquire);
}

settings::log_kind log_kind_of(string_view name)
{
    if (!name.empty() && name != "common" && name != "json") {
        flux::log("--http-log can be common or json, but not %s: there is no access log", std::string(name).c_str());
    }
    return name == "common" ? settings::log_kind::common
           : name == "json" ? settings::log_kind::json
                            : settings::log_kind::none;
}

std::string client_of(const request &one)
{
    const std::vector<std::string> &proxies = all_settings().proxies;
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

void log_answer(const std::string &client, const request *one, int status, std::uint64_t bytes)
{
    std::string version = "1.1";
    if (one != nullptr) {
        version = one->stream() != nullptr ? "2.0" : "1." + std::string(one->message().head().minor_version());
    }
    logged_answer line{client, clock_texts::now().log_date, "-", "-", version, {}, {}, {}, status, bytes};
    if (one != nullptr) {
        line.method = one->method();
        line.target = one->target();
        line.host = one->authority();
        line.referer = one->field("referer");
        line.agent = one->field("user-agent");
    }
    const bool is_json = all_settings().log == settings::log_kind::json;
    flux::log_lines(is_json ? json_line(line) : common_line(line));
}

void log_where_wanted(const request &one, int status, std::uint64_t bytes)
{
    if (all_settings().log != settings::log_kind::none) [[unlikely]] {
        log_answer(client_of(one), &one, status, bytes);
    }
}

flux::moment send_deadline()
{
    const milliseconds limit = all_settings().send;
    return limit.count() == 0 ? flux::never : flux::running_io().last_look() + limit;
}

flux::moment send_deadline_from_now()
{
    const milliseconds limit = all_settings().send;
    return limit.count() == 0 ? flux::never : flux::running_io().now() + limit;
}

} // namespace http
