// What holds for all requests of a process, and its access log.
#pragma once

#include "http.flux.h"

#include "tcp.h"
#include "tls.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace http {

/// What the options say.
struct settings {
    tcp::message_limits limits;
    std::chrono::milliseconds send;
    std::size_t body;
    enum class log_kind : unsigned char { none, common, json } log;
    std::vector<std::string> proxies;
    std::string unix_mode;
    tls::settings security;
};

/// Those of the first call, for all later ones.
const settings &settings_of(settings &&given);

/// What `settings_of` has been given.
const settings &all_settings() noexcept;

/// What `--http-log` says.
settings::log_kind log_kind_of(std::string_view name);

/// The address of its client; of one behind proxies that are believed what they say of it.
std::string client_of(const request &one);

/// A line of the access log; of what is no request where `one` is null. Throws `std::bad_alloc`.
void log_answer(const std::string &client, const request *one, int status, std::uint64_t bytes);
void log_where_wanted(const request &one, int status, std::uint64_t bytes);

/// Until when a client may take what is sent to it from now on; by a recent time, or by the current one.
flux::moment send_deadline();
flux::moment send_deadline_from_now();

} // namespace http
