#include "http_answer.h"

#include "http_settings.h"

#include "flux/flow/flow.hpp"
#include "flux/message_stream.hpp"
#include "flux/send_message.hpp"

#include <algorithm>
#include <cerrno>

namespace http {

using namespace http_text;
using std::string_view;

answer::answer(const request &to, int status, bool closes)
    : head(status), to_(to), on_(exchange_of(to)), status_(status)
{
    const auto rest = to.message().stream();
    const bool may_come = to.facts().expects && !(on_ != nullptr && on_->was_continued());
    // A client that waits for `100 Continue` may send its content now, or not at all: "10.1.1".
    keeps_ = !closes && to.facts().keeps && (rest == nullptr || rest->has_ended() || !may_come);
    is_cut_short_ = rest != nullptr && !rest->has_ended();
}

answer::~answer()
{
    if (is_under_way_) {
        log(ENOMEM); // what was to be sent threw
    }
}

int answer::begin()
{
    if (on_ == nullptr || !on_->end()) {
        return EBADF;
    }
    is_under_way_ = true;
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

string_view answer::end_head()
{
    if (on_->is_stream()) {
        return head.end();
    }
    if (!keeps_) {
        head.add("Connection", "close");
    } else if (to_.facts().is_old) {
        head.add("Connection", "keep-alive");
    }
    return head.end();
}

int answer::send(string_view content)
{
    const string_view sent = to_.is_head() || !has_content(status_) ? string_view() : content;
    const int error = on_->send(end_head(), sent, to_.by().send_deadline());
    return error != 0 ? log(error) : let_go();
}

int answer::send(const files::file &file, const range &part)
{
    const int error = on_->send(end_head(), file, part);
    return error != 0 ? log(error) : let_go();
}

int answer::send(flux::body &content, std::uint64_t size)
{
    const bool is_chunked =
        size == unknown_size && !on_->is_stream() && !to_.facts().is_old;
    if (is_chunked) {
        head.add("Transfer-Encoding", "chunked");
    } else if (size != unknown_size) {
        head.add_length(size);
    }
    if (to_.is_head()) {
        content.abandon();
        return send({});
    }
    int error = on_->send_head(end_head());
    if (error == 0) {
        error = send_pieces(content, is_chunked);
    }
    if (error == 0 && size != unknown_size && on_->sent() != size) {
        error = ENODATA;
    }
    if (error == 0) {
        error = on_->send_end(is_chunked);
    }
    if (error != 0) {
        content.abandon();
        log(error);
        on_->break_off();
        return error;
    }
    return let_go();
}

int answer::send_pieces(flux::body &content, bool is_chunked)
{
    const auto pull = [&](std::span<std::byte> into) { return content.pull(into, flux::never); };
    const auto send_piece = [&](string_view piece) -> flux::io_result<void> {
        const int error = on_->send_piece(piece, is_chunked);
        return error == 0 ? flux::io_result<void>() : flux::unexpected(error);
    };
    return flux::take(flux::through_window(pull, send_piece));
}

// Says in the access log what has become of it; gives the error. Of an answer that its client did not wait for there is
// nothing.
int answer::log(int error) noexcept
{
    is_under_way_ = false;
    const bool is_unwanted = error != 0 && on_->sent() == 0 && on_->has_left();
    log_answer(to_, {is_unwanted ? 499 : status_, on_->sent(), on_->begun(), error});
    return error;
}

int answer::let_go()
{
    log(0);
    using after = exchange::after;
    return on_->let_go(keeps_ ? after::kept
                       : is_cut_short_ || to_.facts().keeps ? after::closed_softly
                                                            : after::closed);
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
    const bool is_old = to.stream() == nullptr && to.facts().is_old;
    answer made(to, with.status, is_old && size == unknown_size);
    const int wrong = made.add(with.fields);
    if (const int error = wrong != 0 ? wrong : made.begin(); error != 0) {
        content.abandon();
        return error;
    }
    return made.send(content, size);
}

} // namespace http
