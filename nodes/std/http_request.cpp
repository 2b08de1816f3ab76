// Requests, and what comes with them. The sections named here are those of RFC 9110, with "9112" before them those of
// RFC 9112.

#include "http.flux.h"

#include "http_exchange.h"
#include "http_settings.h"
#include "http_text.h"

#include "flux/message_stream.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

namespace http {

using namespace http_text;
using std::string_view;

namespace {

/// The content of a request.
class request_body final : public flux::body
{
  public:
    explicit request_body(const request &of)
        : of_(of), stream_(of.message().stream()), is_limited_(of.by().body != 0), left_(of.by().body)
    {
    }

    flux::io_result<std::size_t> pull(std::span<std::byte> into, flux::moment deadline) noexcept override
    {
        exchange *const open = exchange_of(of_);
        if (open == nullptr) {
            return flux::unexpected(EBADF);
        }
        if (of_.facts().expects && !open->was_continued()) {
            if (const int error = open->go_on(deadline); error != 0) {
                return flux::unexpected(error);
            }
        }
        const flux::io_result<std::size_t> count = stream_->pull(into, deadline);
        if (count.has_value() && is_limited_) {
            if (*count > left_) {
                return flux::unexpected(EMSGSIZE);
            }
            left_ -= *count;
        }
        return count;
    }

    void abandon() noexcept override { stream_->abandon(); }

  private:
    const request of_;
    const std::shared_ptr<flux::message_stream> stream_;
    const bool is_limited_;
    std::size_t left_;
};

/// One look at all fields.
head_facts facts_of(const http_message::request &message, std::size_t most_content)
{
    const http_message::request_head head = message.head();
    head_facts facts;
    facts.method = head.method();
    facts.target = head.target();
    facts.is_old = head.minor_version() == "0";
    facts.keeps = !facts.is_old;
    bool closes = false;
    bool keeps = false;
    const auto look_at = [&](string_view line) {
        if (const auto options = value_of(line, "connection")) {
            any_element(*options, [&](string_view option) {
                closes = closes || is_same(option, "close");
                keeps = keeps || is_same(option, "keep-alive");
                return false;
            });
        } else if (const auto host = value_of(line, "host")) {
            facts.refused = is_authority(*host) ? facts.refused : 400;
        } else if (const auto expected = facts.keeps ? value_of(line, "expect") : std::nullopt) {
            facts.expects = is_same(*expected, "100-continue");
            facts.refused = facts.expects ? facts.refused : 417;
        } else if (value_of(line, "range") || is_same(line.substr(0, 3), "if-")) {
            facts.has_conditions = true;
        }
    };
    any_line(head.wire(), [&](string_view line) {
        // Most fields begin with another letter than those that are looked for.
        constexpr std::uint32_t wanted = 1U << ('c' - '`') | 1U << ('h' - '`') | 1U << ('e' - '`') |
                                         1U << ('r' - '`') | 1U << ('i' - '`');
        if ((wanted >> (static_cast<unsigned char>(line[0]) & 31) & 1) != 0) {
            look_at(line);
        }
        return false;
    });
    facts.keeps = !closes && (facts.keeps || keeps);
    if (most_content != 0 && head.length() > most_content && facts.refused == 0) {
        facts.refused = 413;
    }
    return facts;
}

} // namespace

request::request(flux::connection &on, const settings &by, http_message::request &&message)
    : on_(&on), by_(&by), message_(std::move(message)), facts_(facts_of(message_, by.body))
{
}

request::request(std::shared_ptr<exchange> of, const settings &by, http_message::request &&message)
    : by_(&by), stream_(std::move(of)), message_(std::move(message)), facts_(facts_of(message_, by.body))
{
}

string_view request::query() const
{
    return parts_of(target()).query;
}

string_view request::authority() const
{
    const string_view own = parts_of(target()).authority;
    return own.empty() ? field("host") : own;
}

string_view request::field(string_view name) const
{
    std::string small(name);
    std::transform(small.begin(), small.end(), small.begin(), lower);
    std::optional<string_view> found;
    any_line(message_.head().wire(), [&](string_view line) { return (found = value_of(line, small)).has_value(); });
    return found.value_or(string_view());
}

std::string request::list(string_view name) const
{
    std::string small(name);
    std::transform(small.begin(), small.end(), small.begin(), lower);
    std::string all;
    any_line(message_.head().wire(), [&](string_view line) {
        if (const auto value = value_of(line, small); value && !value->empty()) {
            all.append(all.empty() ? "" : ", ").append(*value);
        }
        return false;
    });
    return all;
}

std::string request::trailer(string_view name) const
{
    std::string small(name);
    std::transform(small.begin(), small.end(), small.begin(), lower);
    std::vector<http_message::field> all;
    http_message::Trailers(message_, all);
    const auto found = std::ranges::find_if(all, [&](const auto &one) { return is_same(one.name(), small); });
    return found == all.end() ? std::string() : std::string(found->value());
}

std::shared_ptr<flux::body> request::body() const
{
    return message_.stream() == nullptr ? nullptr : std::make_shared<request_body>(*this);
}

flux::connection *request::take_connection() const
{
    exchange *const open = on_ == nullptr ? nullptr : exchange_of(*this);
    return open != nullptr && open->end() ? on_ : nullptr;
}

const flux::address &request::peer() const noexcept
{
    return on_ != nullptr ? on_->peer() : stream_->peer();
}

bool is_get(const request &one)
{
    return one.method() == "GET" || one.is_head();
}

bool is_post(const request &one)
{
    return one.method() == "POST";
}

bool is_put(const request &one)
{
    return one.method() == "PUT";
}

bool is_deletion(const request &one)
{
    return one.method() == "DELETE";
}

} // namespace http
