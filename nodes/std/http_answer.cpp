#include "http_answer.h"

#include "http_settings.h"

#include "flux/connection.hpp"
#include "flux/io.hpp"
#include "flux/message_stream.hpp"
#include "flux/send_message.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <new>
#include <utility>

namespace http {

using namespace http_text;
using std::string_view;

namespace {

constexpr auto unknown_size = static_cast<std::uint64_t>(-1);

} // namespace

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

answer::answer(const request &to, int status, bool closes)
    : head(status), to_(to), on_(*to.connection()), status_(status)
{
    const exchange *const open = exchange_of(to);
    const auto rest = to.message().stream();
    const bool may_come = to.facts().expects && !(open != nullptr && open->was_continued());
    // A client that waits for `100 Continue` may send its content now, or not at all: "10.1.1".
    keeps_ = !closes && to.facts().keeps && (rest == nullptr || rest->has_ended() || !may_come);
    is_cut_short_ = rest != nullptr && !rest->has_ended();
}

int answer::begin() const
{
    exchange *const open = exchange_of(to_);
    if (open == nullptr || !open->end()) {
        return EBADF;
    }
    flux::running_flow->set_deadline(flux::never);
    return 0;
}

int answer::add(const std::vector<field> &fields)
{
    for (const field &each : fields) {
        if (!is_field(each.name, each.value)) {
            return EINVAL;
        }
        head.add(each.name, each.value);
    }
    return 0;
}

std::string &answer::end_head()
{
    if (!keeps_) {
        head.add("Connection", "close");
    } else if (to_.message().head().minor_version() == "0") {
        head.add("Connection", "keep-alive");
    }
    return head.end();
}

int answer::send(string_view content)
{
    std::string &text = end_head();
    const bool is_empty = to_.is_head() || !has_content(status_);
    iovec parts[] = {{text.data(), text.size()}, {const_cast<char *>(content.data()), content.size()}};
    const int error = flux::take(on_.send(std::span(parts).first(is_empty ? 1 : 2), send_deadline()));
    return error != 0 ? error : let_go(is_empty ? 0 : content.size());
}

int answer::send(const files::file &file, const range &part)
{
    std::string &text = end_head();
    if (file.is_in_memory()) {
        const string_view content = file.content().substr(part.begin, part.size);
        iovec parts[] = {{text.data(), text.size()}, {const_cast<char *>(content.data()), content.size()}};
        const int error = flux::take(on_.send(parts, send_deadline()));
        return error != 0 ? error : let_go(part.size);
    }
    constexpr std::size_t piece = std::size_t{256} << 10;
    string_view before = text;
    for (std::size_t sent = 0; sent < part.size;) {
        const std::size_t count = std::min(piece, part.size - sent);
        const flux::file_part next = file.part(part.begin + sent, count);
        const int error = flux::take(on_.send_file(before, next, send_deadline_from_now()));
        if (error != 0) {
            return error;
        }
        before = {};
        sent += count;
    }
    return let_go(part.size);
}

int answer::let_go(std::uint64_t bytes)
{
    log_where_wanted(to_, status_, bytes);
    if (keeps_) {
        return flux::take(on_.give_back());
    }
    return flux::take(is_cut_short_ || to_.facts().keeps ? on_.close_softly() : on_.close());
}

int send_error(const request &to, int status, string_view name, string_view value)
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

int send_not_allowed(const request &to, string_view methods)
{
    constexpr string_view known[] = {"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"};
    if (to.method() == "OPTIONS") {
        return send_error(to, 204, "Allow", methods);
    }
    const bool is_known = std::find(std::begin(known), std::end(known), to.method()) != std::end(known);
    return is_known ? send_error(to, 405, "Allow", methods) : send_error(to, 501);
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
        return on.send(parts, send_deadline_from_now());
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
        // An old client takes the end of its connection for that of the content, which TLS would announce.
        on.flush(flux::moment::min());
        on.cut();
        return error;
    }
    return made.let_go(sent);
}

} // namespace http
