// What a source states for its listener: it holds for all connections and requests there. And the access log.
#pragma once

#include "http.flux.h"

#include "tcp.h"
#include "tls.h"

#include "flux/moment.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace http {

/// The inputs of `Listen`.
struct settings {
    tcp::listener_settings of_connections;
    std::chrono::milliseconds send;
    std::size_t body;
    enum class log_kind : unsigned char { none, common, json } log;
    std::vector<std::string> proxies;

    bool logs() const noexcept { return log != log_kind::none; }

    /// Until when a client may take what is sent to it from now on; by a recent time, or by the current one.
    flux::moment send_deadline() const;
    flux::moment send_deadline_from_now() const;
};

/// The address of its client; of one behind proxies that are believed what they say of it.
std::string client_of(const request &one);

/// What the access log says of an answer.
struct given_answer {
    int status;
    /// Of its content, as far as they were sent.
    std::uint64_t bytes = 0;
    /// When a flow was given the request; `never` where none was.
    flux::moment begun = flux::never;
    /// Why it broke off; 0 where it did not.
    int error = 0;
};

/// A line of the access log, if there is one; of what is no request where `one` is null.
void log_answer(const settings &by, const std::string &client, const request *one, const given_answer &what) noexcept;
void log_answer(const request &one, const given_answer &what) noexcept;

} // namespace http
