#include "http_exchange.h"

#include "http.flux.h"

#include "http_settings.h"

#include "flux/flow/flow.hpp"
#include "flux/io.hpp"
#include "flux/send_message.hpp"

#include <algorithm>
#include <cstdio>
#include <new>
#include <utility>

namespace http {

using namespace http_text;
using std::string_view;

void exchange::begin(const request &one)
{
    // What may throw comes first: nobody has begun then.
    std::shared_ptr<const request> asked = one.by().logs() ? std::make_shared<const request>(one) : nullptr;
    is_head_ = one.is_head();
    is_open_ = true;
    was_continued_ = false;
    begun_ = flux::running_io().last_look();
    sent_ = 0;
    asked_ = std::move(asked);
    given(one);
    flux::running_flow->own(*this);
}

bool exchange::end() noexcept
{
    if (!is_open_) {
        return false;
    }
    is_open_ = false;
    asked_.reset();
    flux::running_flow->disown(*this);
    answered();
    return true;
}

bool exchange::flow_has_ended() noexcept
{
    if (std::exchange(is_open_, false)) {
        if (const std::shared_ptr<const request> asked = std::move(asked_)) {
            log_answer(*asked, {has_left() ? 499 : 500, 0, begun_});
        }
        fail();
    }
    return false;
}

exchange *exchange_of(const request &one)
{
    if (exchange *const of_stream = one.stream()) {
        return of_stream;
    }
    return one.connection() == nullptr ? nullptr : one.connection()->state<connection_exchange>();
}

void connection_exchange::given(const request &one) noexcept
{
    on_ = one.connection();
    by_ = &one.by();
}

void connection_exchange::refuse(int status)
{
    on_->close_softly(last_answer(status, is_head()));
}

int connection_exchange::send_continue(flux::moment deadline)
{
    return flux::take(on_->send("HTTP/1.1 100 Continue\r\n\r\n", deadline));
}

void connection_exchange::fail() noexcept
{
    if (on_->usable() == 0) {
        try {
            refuse(500);
        } catch (const std::bad_alloc &) {
            on_->close();
        }
    }
}

int connection_exchange::send(string_view head, string_view content, flux::moment deadline)
{
    iovec parts[] = {{const_cast<char *>(head.data()), head.size()},
                     {const_cast<char *>(content.data()), content.size()}};
    return counted(flux::take(on_->send(std::span(parts).first(content.empty() ? 1 : 2), deadline)), content.size());
}

int connection_exchange::send(string_view head, const files::file &file, const range &part)
{
    if (file.is_in_memory()) {
        return send(head, file.content().substr(part.begin, part.size), by_->send_deadline());
    }
    constexpr std::size_t piece = std::size_t{256} << 10;
    for (std::size_t sent = 0; sent < part.size;) {
        const std::size_t count = std::min(piece, part.size - sent);
        const flux::file_part next = file.part(part.begin + sent, count);
        const int error = counted(flux::take(on_->send_file(head, next, by_->send_deadline_from_now())), next.size);
        if (error != 0) {
            return error;
        }
        head = {};
        sent += count;
    }
    return 0;
}

int connection_exchange::send_head(string_view head)
{
    return flux::take(on_->send(head, by_->send_deadline()));
}

int connection_exchange::send_piece(string_view piece, bool is_chunked)
{
    char line[24];
    const int line_size = is_chunked ? std::snprintf(line, sizeof line, "%zx\r\n", piece.size()) : 0;
    iovec parts[] = {{line, static_cast<std::size_t>(line_size)},
                     {const_cast<char *>(piece.data()), piece.size()},
                     {const_cast<char *>("\r\n"), is_chunked ? 2U : 0U}};
    return counted(flux::take(on_->send(parts, by_->send_deadline_from_now())), piece.size());
}

int connection_exchange::send_end(bool is_chunked)
{
    return is_chunked ? flux::take(on_->send("0\r\n\r\n", by_->send_deadline())) : 0;
}

void connection_exchange::break_off() noexcept
{
    // An old client takes the end of its connection for that of the content, which TLS would announce.
    on_->flush(flux::moment::min());
    on_->cut();
}

int connection_exchange::let_go(after what) noexcept
{
    switch (what) {
    case after::kept:
        return flux::take(on_->give_back());
    case after::closed_softly:
        return flux::take(on_->close_softly());
    case after::closed:
        break;
    }
    return flux::take(on_->close());
}

} // namespace http
