// The settings of a listener, which apply to all its connections and requests. The access log.
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

    /// The deadline for a client to receive what is sent to it from now on. The first function adds the limit to a
    /// recent time (`last_look`), the second to the current time.
    flux::moment send_deadline() const;
    flux::moment send_deadline_from_now() const;
};

/// The address of its client; of one behind proxies that are believed what they say of it.
std::string client_of(const request &one);

/// The facts about an answer that the access log records.
struct given_answer {
    int status;
    /// The number of bytes of the content that were sent.
    std::uint64_t bytes = 0;
    /// When a flow got the request; `never` if no flow got it.
    flux::moment begun = flux::never;
    /// The error that broke off the answer; 0 if the answer is complete.
    int error = 0;
};

/// Writes a line of the access log if the listener has a log. `one` is null if the request could not be read.
void log_answer(const settings &by, const std::string &client, const request *one, const given_answer &what) noexcept;
void log_answer(const request &one, const given_answer &what) noexcept;

} // namespace http
