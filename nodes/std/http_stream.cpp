#include "http_stream.h"

#include "http_frames.h"
#include "http_listen.h"
#include "http_settings.h"

#include "flux/flow/flow.hpp"
#include "flux/log.hpp"
#include "flux/message/typed_parse.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <new>
#include <unistd.h>

namespace http {

using namespace http_text;
using std::string_view;
using side = session::side;

namespace {

/// What a request may have of fields, names and values, each with 32 bytes besides: "6.5.2".
constexpr std::size_t longest_header = std::size_t{64} << 10;

nghttp2_nv field_of(string_view name, string_view value) noexcept
{
    const auto bytes_of = [](string_view text) {
        return const_cast<std::uint8_t *>(reinterpret_cast<const std::uint8_t *>(text.data()));
    };
    return {bytes_of(name), bytes_of(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

} // namespace

// What comes in.

// "8.3.1": what stands in the request line of HTTP/1.1 are fields with a colon here.
void stream::add_field(string_view name, string_view value)
{
    head_size_ += name.size() + value.size() + 32;
    if (head_size_ > longest_header) {
        return;
    }
    is_wrong_ = is_wrong_ || value.find_first_of(string_view("\r\n\0", 3)) != value.npos;
    if (name == ":method") {
        method_ = value;
    } else if (name == ":path") {
        path_ = value;
    } else if (name == ":authority" || name == "host") {
        is_wrong_ = is_wrong_ || (!authority_.empty() && authority_ != value);
        authority_ = value;
    } else if (name == "cookie") {
        cookie_ += (cookie_.empty() ? "" : "; ") + std::string(value); // "8.2.3"
    } else if (!name.starts_with(':')) {
        has_length_ = has_length_ || name == "content-length";
        fields_.append(name).append(": ").append(value).append("\r\n");
    }
}

// "8.1": fields behind the content, as many as HTTP/1.1 may have. Those that say how a message is framed are none
// (RFC 9110, 6.5.1).
void stream::add_trailer(string_view name, string_view value)
{
    constexpr std::size_t most = 100;
    if (is_wrong_) {
        return;
    }
    trailers_size_ += name.size() + value.size() + 32;
    if (trailers_size_ > longest_header || ++trailers_count_ > most) {
        is_wrong_ = true;
        return reset(NGHTTP2_ENHANCE_YOUR_CALM);
    }
    const bool frames = name == "host" || name == "content-length" || name == "transfer-encoding";
    if (!frames && !name.starts_with(':') && value.find_first_of(string_view("\r\n\0", 3)) == value.npos) {
        trailers_.append(name).append(": ").append(value).append("\r\n");
    }
}

std::string stream::head_as_of_http1() const
{
    std::string head = method_ + " " + (method_ == "CONNECT" ? authority_ : path_) + " HTTP/1.1\r\n";
    if (!authority_.empty()) {
        head += "Host: " + authority_ + "\r\n";
    }
    head += fields_;
    if (!cookie_.empty()) {
        head += "cookie: " + cookie_ + "\r\n";
    }
    // Of a content whose size is not known: chunks, of which the first has begun.
    return head + (input_ended_ || has_length_ ? "\r\n" : "Transfer-Encoding: chunked\r\n\r\n1\r\n");
}

// All of its fields have come. Others on its connection go on where there is no memory for it.
void stream::make_request() noexcept
{
    try {
        read_request();
    } catch (const std::bad_alloc &) {
        refuse_or_reset(503);
        log_refused(503);
    }
}

// As strictly as one of HTTP/1.1.
void stream::read_request()
{
    if (is_wrong_) {
        return reset(NGHTTP2_PROTOCOL_ERROR);
    }
    asks_head_ = method_ == "HEAD";
    if (head_size_ > longest_header) {
        return refuse_unread(431);
    }
    const std::string head = head_as_of_http1();
    const std::span<const std::byte> bytes = std::as_bytes(std::span(head));
    flux::typed_parse<http_message::request> parse;
    const flux::message_parse::state come = parse.read(head, false);
    if (come == flux::message_parse::state::no_memory) {
        return refuse_unread(503);
    }
    if (come != flux::message_parse::state::whole || parse.size() != head.size()) {
        parse.bytes = flux::message_bytes::copy_of(bytes);
        return refuse_unread(status_of(parse));
    }
    parse.bytes = parse.ahead() == nullptr ? flux::message_bytes::copy_of(bytes)
                                           : flux::message_bytes::with_stream(bytes, shared_from_this());
    of_->requests_.emplace_back(shared_from_this(), of_->by_, parse.message());
    for (std::string *const done : {&method_, &path_, &authority_, &fields_, &cookie_}) {
        std::string().swap(*done);
    }
}

bool stream::is_gone() const noexcept
{
    const alone held(of_->lock_);
    return is_closed_;
}

void stream::given(const request &) noexcept
{
    const alone held(of_->lock_);
    kept_ = shared_from_this();
    unanswered_ = flux::running_flow;
    if (is_closed_) {
        unanswered_->cancel();
    }
}

void stream::answered() noexcept
{
    std::shared_ptr<stream> last;
    const alone held(of_->lock_);
    unanswered_ = nullptr;
    last.swap(kept_);
}

flux::io_result<std::size_t> stream::pull(std::span<std::byte> into, flux::moment deadline) noexcept
{
    if (const int error = flux::within_io_budget(); error != 0) {
        return flux::unexpected(error);
    }
    alone held(of_->lock_);
    int error = 0;
    while (error == 0 && input_.size() == read_of_input_ && !input_ended_) {
        error = is_closed_ || drops_input_ ? ECONNRESET : of_->step(*this, side::in, held, deadline);
    }
    const std::size_t count = error != 0 ? 0 : std::min(into.size(), input_.size() - read_of_input_);
    if (count != 0) {
        std::memcpy(into.data(), input_.data() + read_of_input_, count);
        read_of_input_ += count;
        if (read_of_input_ == input_.size()) {
            input_.clear();
            read_of_input_ = 0;
        }
        if (!is_closed_) {
            nghttp2_session_consume(of_->frames_, id_, count);
        }
    }
    of_->finish(*this, held);
    flux::spend_io_budget(count);
    return error != 0 ? flux::io_result<std::size_t>(flux::unexpected(error)) : count;
}

// Where its size is not known, in chunks, of which the first has one byte, as its request says.
flux::io_result<std::size_t> stream::pull_wire(std::span<std::byte> into, flux::moment deadline) noexcept
{
    if (has_length_) {
        return pull(into, deadline);
    }
    if (chunk_.empty() && !chunks_ended_) {
        std::array<std::byte, std::size_t{8} << 10> piece;
        const auto count = pull(std::span(piece).first(chunks_begun_ ? piece.size() : 1), deadline);
        if (!count.has_value()) {
            return count;
        }
        if (*count == 0 && !chunks_begun_) {
            return flux::unexpected(EBADMSG); // the content is empty, and more was said
        }
        try {
            char size[20];
            const auto end = std::to_chars(size, size + sizeof size, *count, 16).ptr;
            chunk_ = chunks_begun_ ? std::string(size, end) + "\r\n" : "";
            chunk_.append(reinterpret_cast<const char *>(piece.data()), *count);
            chunk_.append(*count == 0 ? trailers_ : "").append("\r\n");
        } catch (const std::bad_alloc &) {
            return flux::unexpected(ENOMEM);
        }
        chunks_begun_ = true;
        chunks_ended_ = *count == 0;
    }
    const std::size_t count = std::min(into.size(), chunk_.size());
    std::memcpy(into.data(), chunk_.data(), count);
    chunk_.erase(0, count);
    return count;
}

void stream::abandon() noexcept
{
    alone held(of_->lock_);
    drop_input();
    of_->finish(*this, held);
}

bool stream::has_ended() const noexcept
{
    const alone held(of_->lock_);
    return input_ended_ && read_of_input_ == input_.size();
}

// As if its content had come in chunks.
std::string stream::bytes_behind() const
{
    return has_ended() ? "0\r\n" + trailers_ + "\r\n" : std::string();
}

void stream::drop_input() noexcept
{
    drops_input_ = true;
    if (!is_closed_ && !of_->is_over_) {
        nghttp2_session_consume(of_->frames_, id_, input_.size() - read_of_input_);
    }
    input_.clear();
    read_of_input_ = 0;
}

// What goes out.

// The head of an answer of HTTP/1.1, of which the status and the fields are sent.
void stream::submit(string_view head, bool has_content)
{
    std::vector<nghttp2_nv> fields{field_of(":status", head.substr(9, 3))};
    std::string names;
    names.reserve(head.size()); // so that it stays where it is
    for (std::size_t at = head.find("\r\n") + 2; at < head.size();) {
        const std::size_t end = head.find("\r\n", at);
        const string_view line = head.substr(at, end - at);
        const std::size_t colon = line.find(": ");
        if (colon != line.npos && !line.starts_with("Connection:")) {
            const std::size_t begin = names.size();
            std::transform(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(colon), std::back_inserter(names),
                           lower);
            fields.push_back(field_of(string_view(names).substr(begin), line.substr(colon + 2)));
        }
        at = end + 2;
    }
    const nghttp2_data_provider content = frames::content_of(*this);
    if (nghttp2_submit_response(of_->frames_, id_, fields.data(), fields.size(), has_content ? &content : nullptr) ==
        NGHTTP2_ERR_NOMEM) {
        throw std::bad_alloc();
    }
    has_answered_ = true;
}

// Waits until nghttp2 has all of it.
int stream::send_rest(string_view content, bool ends, alone &held, flux::moment deadline) noexcept
{
    unsent_ = content;
    ends_ = ends;
    nghttp2_session_resume_data(of_->frames_, id_);
    int error = 0;
    while (error == 0 && !is_closed_ && !(unsent_.empty() && (!ends || has_sent_end_))) {
        error = of_->step(*this, side::out, held, deadline);
    }
    unsent_ = {};
    if (error != 0) {
        reset(NGHTTP2_CANCEL);
    } else if (ends ? !has_sent_end_ : is_closed_) {
        error = ECONNRESET;
    }
    of_->finish(*this, held);
    return error;
}

int stream::send(string_view head, string_view content, flux::moment deadline)
{
    alone held(of_->lock_);
    if (is_closed_) {
        return ECONNRESET;
    }
    submit(head, !content.empty());
    return counted(send_rest(content, true, held, deadline), content.size());
}

int stream::send(string_view head, const files::file &file, const range &part)
{
    if (file.is_in_memory()) {
        return send(head, file.content().substr(part.begin, part.size), of_->by_.send_deadline());
    }
    int error = send_head(head);
    std::vector<char> piece(std::min(part.size, std::size_t{64} << 10));
    for (std::size_t sent = 0; error == 0 && sent < part.size;) {
        const flux::file_part next = file.part(part.begin + sent, std::min(piece.size(), part.size - sent));
        const ssize_t count = ::pread(next.descriptor, piece.data(), next.size, next.offset);
        if (count <= 0) {
            error = count < 0 ? errno : ENODATA;
            break_off();
            break;
        }
        sent += static_cast<std::size_t>(count);
        error = send_piece({piece.data(), static_cast<std::size_t>(count)}, false);
    }
    return error != 0 ? error : send_end(false);
}

int stream::send_head(string_view head)
{
    alone held(of_->lock_);
    if (is_closed_) {
        return ECONNRESET;
    }
    submit(head, true);
    return 0; // it goes with what comes next
}

int stream::send_piece(string_view piece, bool)
{
    alone held(of_->lock_);
    return is_closed_ ? ECONNRESET
                      : counted(send_rest(piece, false, held, of_->by_.send_deadline_from_now()), piece.size());
}

int stream::send_end(bool)
{
    alone held(of_->lock_);
    return is_closed_ ? ECONNRESET : send_rest({}, true, held, of_->by_.send_deadline_from_now());
}

int stream::send_continue(flux::moment)
{
    alone held(of_->lock_);
    if (!is_closed_) {
        const nghttp2_nv status = field_of(":status", "100");
        nghttp2_submit_headers(of_->frames_, NGHTTP2_FLAG_NONE, id_, nullptr, &status, 1, nullptr);
        of_->finish(*this, held);
    }
    return 0;
}

void stream::break_off() noexcept
{
    alone held(of_->lock_);
    reset(NGHTTP2_INTERNAL_ERROR);
    of_->finish(*this, held);
}

void stream::refuse(int status)
{
    alone held(of_->lock_);
    refuse_here(status);
    of_->finish(*this, held);
}

// There is no request that could be given to a flow.
void stream::refuse_unread(int status)
{
    refuse_here(status);
    log_refused(status);
}

void stream::log_refused(int status) noexcept
{
    try {
        log_answer(of_->by_, host_of(peer().text()), nullptr, {status});
    } catch (const std::bad_alloc &) {
        flux::log_line("there is no memory for a line of the access log");
    }
}

// No flow waits for it, so it does not keep its connection in use.
void stream::refuse_here(int status)
{
    if (is_closed_ || has_answered_) {
        return;
    }
    own_answer_ = last_answer(status, asks_head_);
    const string_view answer = own_answer_;
    const std::size_t head_size = answer.find("\r\n\r\n") + 4;
    unsent_ = answer.substr(head_size);
    ends_ = true;
    submit(answer.substr(0, head_size), !unsent_.empty());
    is_refused_ = true;
    ++of_->refused_;
}

void stream::refuse_or_reset(int status) noexcept
{
    try {
        refuse_here(status);
    } catch (const std::bad_alloc &) {
        reset(NGHTTP2_INTERNAL_ERROR);
    }
}

void stream::reset(std::uint32_t code) noexcept
{
    if (!is_closed_ && !of_->is_over_) {
        nghttp2_submit_rst_stream(of_->frames_, NGHTTP2_FLAG_NONE, id_, code);
    }
}

void stream::fail() noexcept
{
    std::shared_ptr<stream> last;
    alone held(of_->lock_);
    unanswered_ = nullptr;
    last.swap(kept_);
    refuse_or_reset(500);
    of_->finish(*this, held);
}

} // namespace http
