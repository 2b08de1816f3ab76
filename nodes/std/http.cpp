// Requests and answers of HTTP/1.1. The sections named here are those of RFC 9110, with "9112" before them those of
// RFC 9112. What is computed of texts alone is in http_text.cpp.

#include "http.flux.h"

#include "http_text.h"
#include "tcp.h"

#include "flux/flow/belongings.hpp"
#include "flux/io/connections.hpp"
#include "flux/log.hpp"
#include "flux/message/reader.hpp"
#include "flux/send_message.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <optional>
#include <utility>
#include <vector>

namespace http {
namespace {

using namespace http_text;
using std::string_view;
using std::chrono::milliseconds;

// Settings, which are the same for all requests of a process.

struct settings {
    tcp::message_limits limits;
    milliseconds send;
    std::size_t body;
    enum class log_kind : unsigned char { none, common, json } log;
    std::vector<std::string> proxies;
    std::string unix_mode;
};

std::atomic<const settings *> all_settings{nullptr};

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
    const std::vector<std::string> &proxies = all_settings.load()->proxies;
    std::string client = host_of(one.connection()->peer().text());
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
    const std::string version = one == nullptr ? "1" : std::string(one->message().head().minor_version());
    logged_answer line{client, clock_texts::now().log_date, "-", "-", version, {}, {}, {}, status, bytes};
    if (one != nullptr) {
        line.method = one->method();
        line.target = one->target();
        line.host = one->authority();
        line.referer = one->field("referer");
        line.agent = one->field("user-agent");
    }
    const bool is_json = all_settings.load()->log == settings::log_kind::json;
    flux::log_lines(is_json ? json_line(line) : common_line(line));
}

void log_where_wanted(const request &one, int status, std::uint64_t bytes)
{
    if (all_settings.load(std::memory_order_relaxed)->log != settings::log_kind::none) [[unlikely]] {
        log_answer(client_of(one), &one, status, bytes);
    }
}

// Answers.

/// What a request is while nobody has answered it: where its flow ends then, it answers.
class exchange final : private flux::belonging
{
  public:
    exchange() noexcept = default;
    ~exchange() { end(); }

    void begin(const request &one)
    {
        on_ = one.connection();
        is_head_ = one.is_head();
        is_open_ = true;
        was_continued_ = false;
        flux::running_flow->own(*this);
    }
    /// Somebody answers: false where somebody has.
    bool end() noexcept
    {
        if (!is_open_) {
            return false;
        }
        is_open_ = false;
        flux::running_flow->disown(*this);
        return true;
    }

    bool was_continued() const noexcept { return was_continued_; }
    void set_continued() noexcept { was_continued_ = true; }

  private:
    bool flow_has_ended() noexcept override;

    flux::connection *on_ = nullptr;
    bool is_head_ = false;
    bool is_open_ = false;
    bool was_continued_ = false;
};

bool exchange::flow_has_ended() noexcept
{
    if (std::exchange(is_open_, false) && on_->usable() == 0) {
        try {
            on_->close_softly(last_answer(500, is_head_));
        } catch (const std::bad_alloc &) {
            on_->close();
        }
    }
    return false;
}

exchange *exchange_of(const request &one)
{
    return one.connection() == nullptr ? nullptr : one.connection()->state<exchange>();
}

flux::moment send_deadline()
{
    const milliseconds limit = all_settings.load(std::memory_order_relaxed)->send;
    return limit.count() == 0 ? flux::never : flux::running_io().last_look() + limit;
}

constexpr auto unknown_size = static_cast<std::uint64_t>(-1);

/// An answer that somebody has begun to give.
class answer
{
  public:
    /// Nobody else answers from now on.
    answer(const request &to, int status, bool closes = false)
        : head(status), to_(to), on_(*to.connection()), status_(status)
    {
        const exchange *const open = exchange_of(to);
        const auto rest = to.message().stream();
        const bool may_come = to.facts().expects && !(open != nullptr && open->was_continued());
        // A client that waits for `100 Continue` may send its content now, or not at all: "10.1.1".
        keeps_ = !closes && to.facts().keeps && (rest == nullptr || rest->has_ended() || !may_come);
        is_cut_short_ = rest != nullptr && !rest->has_ended();
    }

    /// Fails with EBADF where it is answered already.
    int begin() const
    {
        exchange *const open = exchange_of(to_);
        if (open == nullptr || !open->end()) {
            return EBADF;
        }
        flux::running_flow->set_deadline(flux::never);
        return 0;
    }

    /// EINVAL where one of these is none.
    int add(const std::vector<field> &fields)
    {
        for (const field &each : fields) {
            if (!is_field(each.name, each.value)) {
                return EINVAL;
            }
            head.add(each.name, each.value);
        }
        return 0;
    }

    std::string &end_head()
    {
        if (!keeps_) {
            head.add("Connection", "close");
        } else if (to_.message().head().minor_version() == "0") {
            head.add("Connection", "keep-alive");
        }
        return head.end();
    }

    /// Sends the head and a content, which is left out where the answer has none.
    int send(string_view content)
    {
        std::string &text = end_head();
        const bool is_empty = to_.is_head() || !has_content(status_);
        iovec parts[] = {{text.data(), text.size()}, {const_cast<char *>(content.data()), content.size()}};
        const int error = flux::take(on_.send(std::span(parts).first(is_empty ? 1 : 2), send_deadline()));
        return error != 0 ? error : let_go(is_empty ? 0 : content.size());
    }

    /// It has been sent: the connection is used again, or closed.
    int let_go(std::uint64_t bytes)
    {
        log_where_wanted(to_, status_, bytes);
        if (keeps_) {
            return flux::take(on_.give_back());
        }
        return flux::take(is_cut_short_ || to_.facts().keeps ? on_.close_softly() : on_.close());
    }

    head_writer head;

  private:
    const request &to_;
    flux::connection &on_;
    int status_;
    bool keeps_ = false;
    bool is_cut_short_ = false;
};

/// Answers with a line that says the status, and a field besides.
int send_error(const request &to, int status, string_view name = {}, string_view value = {})
{
    answer with(to, status);
    if (const int error = with.begin(); error != 0) {
        return error;
    }
    if (!name.empty()) {
        with.head.add(name, value);
    }
    const std::string content = std::to_string(status) + " " + std::string(reason_of(status)) + "\n";
    if (has_content(status)) {
        with.head.add("Content-Type", "text/plain; charset=utf-8").add_length(content.size());
    }
    return with.send(content);
}

/// "15.5.6", "15.6.2": a method that is known is not allowed, any other is unknown.
int send_not_allowed(const request &to, string_view methods)
{
    constexpr string_view known[] = {"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"};
    if (to.method() == "OPTIONS") {
        return send_error(to, 204, "Allow", methods);
    }
    const bool is_known = std::find(std::begin(known), std::end(known), to.method()) != std::end(known);
    return is_known ? send_error(to, 405, "Allow", methods) : send_error(to, 501);
}

// "13 Conditional Requests", "14 Range Requests".

/// "13.2.2 Precedence of Preconditions": 0 where the file is to be sent, else 304 or 412.
int come_of_conditions(const request &one, const files::file &file)
{
    const std::time_t changed = file.modified().tv_sec;
    if (const string_view wanted = one.field("if-match"); !wanted.empty()) {
        if (!has_tag(wanted, file.tag(), false)) {
            return 412;
        }
    } else if (const auto since = time_of(one.field("if-unmodified-since")); since && changed > *since) {
        return 412;
    }
    if (const string_view known = one.field("if-none-match"); !known.empty()) {
        return has_tag(known, file.tag(), true) ? 304 : 0;
    }
    const auto since = time_of(one.field("if-modified-since"));
    return since && changed <= *since ? 304 : 0;
}

/// "13.1.5 If-Range": whether a range is wanted of this file.
bool wants_range(const request &one, const files::file &file)
{
    const string_view field = one.field("if-range");
    if (field.empty() || field.starts_with('"') || field.starts_with("W/")) {
        return field.empty() || field == file.tag();
    }
    return time_of(field) == file.modified().tv_sec;
}

/// Sends a head and a part of a file; in pieces, of which each has its time.
int send_part(flux::connection &on, std::string &head, const files::file &file, const range &part)
{
    if (file.is_in_memory()) {
        const string_view content = file.content().substr(part.begin, part.size);
        iovec parts[] = {{head.data(), head.size()}, {const_cast<char *>(content.data()), content.size()}};
        return flux::take(on.send(parts, send_deadline()));
    }
    constexpr std::size_t piece = std::size_t{256} << 10;
    string_view before = head;
    for (std::size_t sent = 0; sent < part.size;) {
        const std::size_t count = std::min(piece, part.size - sent);
        const auto limit = all_settings.load(std::memory_order_relaxed)->send;
        const flux::moment until = limit.count() == 0 ? flux::never : flux::running_io().now() + limit;
        const int error = flux::take(on.send_file(before, file.part(part.begin + sent, count), until));
        if (error != 0) {
            return error;
        }
        before = {};
        sent += count;
    }
    return 0;
}

// What comes in.

/// The content of a request.
class request_body final : public flux::body
{
  public:
    explicit request_body(const request &of)
        : of_(of), stream_(of.message().stream()), is_limited_(all_settings.load()->body != 0),
          left_(all_settings.load()->body)
    {
    }

    flux::io_result<std::size_t> pull(std::span<std::byte> into, flux::moment deadline) noexcept override
    {
        exchange *const open = exchange_of(of_);
        if (open == nullptr) {
            return flux::unexpected(EBADF);
        }
        if (of_.facts().expects && !open->was_continued()) {
            open->set_continued();
            const auto sent = of_.connection()->send("HTTP/1.1 100 Continue\r\n\r\n", deadline);
            if (!sent.has_value()) {
                return flux::unexpected(sent.error());
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
            if (all_settings.load()->log != settings::log_kind::none) {
                log_answer(host_of(bad.peer().text()), nullptr, status, 0);
            }
        } catch (const std::bad_alloc &) {
            text.clear();
        }
        return text;
    }
};

/// One look at all fields.
head_facts facts_of(const http_message::request &message)
{
    const http_message::request_head head = message.head();
    head_facts facts;
    facts.keeps = head.minor_version() != "0";
    bool closes = false;
    bool keeps = false;
    for (const auto &each : head.fields_()) {
        const string_view name = each.name();
        if (is_same(name, "connection")) {
            any_element(each.value(), [&](string_view option) {
                closes = closes || is_same(option, "close");
                keeps = keeps || is_same(option, "keep-alive");
                return false;
            });
        } else if (is_same(name, "host")) {
            facts.refused = is_authority(each.value()) ? facts.refused : 400;
        } else if (is_same(name, "expect") && facts.keeps) {
            facts.expects = is_same(each.value(), "100-continue");
            facts.refused = facts.expects ? facts.refused : 417;
        } else if (is_same(name, "range") || (name.size() > 5 && is_same(name.substr(0, 3), "if-"))) {
            facts.has_conditions = true;
        }
    }
    facts.keeps = !closes && (facts.keeps || keeps);
    const std::size_t most = all_settings.load(std::memory_order_relaxed)->body;
    if (most != 0 && head.length() > most && facts.refused == 0) {
        facts.refused = 413;
    }
    return facts;
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

const settings &settings_of(settings &&given)
{
    static const settings all = std::move(given);
    all_settings.store(&all);
    return all;
}

} // namespace

request::request(flux::connection &on, http_message::request &&message)
    : on_(&on), message_(std::move(message)), facts_(facts_of(message_))
{
}

string_view request::method() const
{
    return message_.head().method();
}

string_view request::target() const
{
    return message_.head().target();
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
    for (const auto &each : message_.head().fields_()) {
        const string_view known = each.name();
        if (known.size() == name.size() &&
            std::equal(known.begin(), known.end(), name.begin(), [](char a, char b) { return lower(a) == lower(b); })) {
            return each.value();
        }
    }
    return {};
}

std::shared_ptr<flux::body> request::body() const
{
    return message_.stream() == nullptr ? nullptr : std::make_shared<request_body>(*this);
}

flux::connection *request::take_connection() const
{
    exchange *const open = exchange_of(*this);
    return open != nullptr && open->end() ? on_ : nullptr;
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

int Next(long idle_ms, long first_byte_ms, long head_ms, long request_ms, long send_ms, std::size_t body,
         const char *log, const char *proxies, const char *unix_mode, const flux::endpoint &at, request &next,
         std::string &path)
{
    static refusals told;
    static const settings &all = settings_of({{milliseconds(idle_ms), milliseconds(first_byte_ms),
                                               milliseconds(head_ms), milliseconds(request_ms)},
                                              milliseconds(send_ms), body, log_kind_of(log), words_of(proxies),
                                              unix_mode});
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

void Method(const request &of, std::string &method)
{
    method = of.method();
}

void Host(const request &of, std::string &host)
{
    const string_view all = of.authority();
    const std::size_t end = all.starts_with('[') ? all.find(']') + 1 : all.find(':');
    host = all.substr(0, end);
    std::transform(host.begin(), host.end(), host.begin(), lower);
    if (host.ends_with('.')) {
        host.pop_back();
    }
}

void Field(const char *name, const request &of, std::string &value)
{
    value = of.field(name);
}

void Query(const request &of, std::string &query)
{
    query = of.query();
}

void Client(const request &of, std::string &client)
{
    client = client_of(of);
}

int Content(const request &of, std::string &content)
{
    const std::shared_ptr<flux::body> from = of.body();
    if (from == nullptr) {
        return 0;
    }
    return flux::take(flux::through_window(
        [&](std::span<std::byte> into) { return from->pull(into, flux::never); },
        [&](string_view piece) {
            content += piece;
            return flux::io_result<void>();
        }));
}

int send_stream(const request &to, const response &with, flux::body &content)
{
    return send_stream(to, with, content, unknown_size);
}

int send_stream(const request &to, const response &with, flux::body &content, std::uint64_t size)
{
    const bool is_old = to.message().head().minor_version() == "0";
    const bool is_chunked = size == unknown_size && !is_old;
    answer made(to, with.status, !is_chunked && size == unknown_size);
    const int wrong = made.add(with.fields);
    if (const int error = wrong != 0 ? wrong : made.begin(); error != 0) {
        content.abandon();
        return error;
    }
    if (is_chunked) {
        made.head.add("Transfer-Encoding", "chunked");
    } else if (size != unknown_size) {
        made.head.add_length(size);
    }
    if (to.is_head()) {
        content.abandon();
        return made.send({});
    }
    flux::connection &on = *to.connection();
    int error = flux::take(on.send(made.end_head(), send_deadline()));
    std::uint64_t sent = 0;
    const auto pull = [&](std::span<std::byte> into) { return content.pull(into, flux::never); };
    const auto send_piece = [&](string_view piece) -> flux::io_result<void> {
        sent += piece.size();
        char line[24];
        const int line_size = is_chunked ? std::snprintf(line, sizeof line, "%zx\r\n", piece.size()) : 0;
        iovec parts[] = {{line, static_cast<std::size_t>(line_size)},
                         {const_cast<char *>(piece.data()), piece.size()},
                         {const_cast<char *>("\r\n"), is_chunked ? 2U : 0U}};
        const milliseconds limit = all_settings.load(std::memory_order_relaxed)->send;
        return on.send(parts, limit.count() == 0 ? flux::never : flux::running_io().now() + limit);
    };
    if (error == 0) {
        error = flux::take(flux::through_window(pull, send_piece));
    }
    if (error == 0 && is_chunked) {
        error = flux::take(on.send("0\r\n\r\n", send_deadline()));
    }
    if (error == 0 && size != unknown_size && sent != size) {
        error = ENODATA;
    }
    if (error != 0) {
        content.abandon();
        return error;
    }
    return made.let_go(sent);
}

int Send(const request &to, const files::file &file)
{
    if (!is_get(to)) {
        return send_not_allowed(to, "GET, HEAD, OPTIONS");
    }
    range part{0, file.size(), range::kind::whole};
    int status = 0;
    if (to.facts().has_conditions) {
        status = come_of_conditions(to, file);
        const string_view field = to.field("range");
        if (status == 0 && !field.empty() && !to.is_head() && wants_range(to, file)) {
            part = range_of(field, file.size());
            status = part.what == range::kind::unsatisfiable ? 416 : part.what == range::kind::part ? 206 : 0;
        }
    }
    if (status == 412) {
        return send_error(to, 412);
    }
    const std::string size = std::to_string(file.size());
    if (status == 416) {
        return send_error(to, 416, "Content-Range", "bytes */" + size);
    }
    answer with(to, status == 0 ? 200 : status);
    if (const int error = with.begin(); error != 0) {
        return error;
    }
    with.head.add("ETag", file.tag()).add("Last-Modified", date_of(file.modified().tv_sec));
    if (status == 304) {
        return with.send({});
    }
    const bool is_text = file.type().starts_with("text/");
    with.head.add("Content-Type", is_text ? file.type() + "; charset=utf-8" : file.type());
    with.head.add("Accept-Ranges", "bytes").add_length(part.size);
    if (status == 206) {
        with.head.add("Content-Range", "bytes " + std::to_string(part.begin) + "-" +
                                           std::to_string(part.begin + part.size - 1) + "/" + size);
    }
    if (to.is_head() || part.size == 0) {
        return with.send({});
    }
    const int error = send_part(*to.connection(), with.end_head(), file, part);
    return error != 0 ? error : with.let_go(part.size);
}

int Reply(const request &to, const response &with)
{
    answer made(to, std::clamp(with.status, 200, 599));
    const int wrong = made.add(with.fields);
    if (const int error = wrong != 0 ? wrong : made.begin(); error != 0) {
        return error;
    }
    if (has_content(with.status)) {
        made.head.add_length(with.content.size());
    }
    return made.send(with.content);
}

int SendText(int status, const char *type, const request &to, const std::string &content)
{
    return Reply(to, {status, {{"Content-Type", type}}, content});
}

int Refuse(int status, const request &to)
{
    return send_error(to, status);
}

int NotAllowed(const char *methods, const request &to)
{
    return send_not_allowed(to, methods);
}

int Redirect(int status, const request &to, const std::string &location)
{
    return is_field("Location", location) ? send_error(to, status, "Location", location) : EINVAL;
}

int NotFound(const request &to, int error)
{
    if (error == EISDIR) {
        const target_parts parts = parts_of(to.target());
        std::string location(parts.path.substr(parts.path.find_last_of('/') + 1));
        location = "./" + location + "/" + (parts.query.empty() ? "" : "?" + std::string(parts.query));
        return send_error(to, 301, "Location", location);
    }
    const bool is_missing = error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG || error == ELOOP;
    return is_missing ? send_error(to, 404) : error == EACCES ? send_error(to, 403) : Failed(to, error);
}

int Failed(const request &to, int error)
{
    const auto rest = to.message().stream();
    const bool comes = rest != nullptr && !rest->has_ended();
    int status = 500;
    switch (error) {
    case EBADMSG:
    case ECONNRESET:
        status = 400;
        break;
    case EMSGSIZE:
        status = 413;
        break;
    case ETIMEDOUT:
        status = comes ? 408 : 503;
        break;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EBUSY:
    case EAGAIN:
    case flux::out_of_memory:
        status = 503;
        break;
    default:
        break;
    }
    const int failed = send_error(to, status);
    return failed == EBADF && to.connection() != nullptr ? flux::take(to.connection()->close()) : failed;
}

} // namespace http
