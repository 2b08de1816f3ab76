// What is done with a body: it is pulled piece by piece.

#include "uploads.flux.h"

#include "flux/send_message.hpp"

#include <cstdint>
#include <string>

namespace {

http_message::response reply_of(const char *status, const std::string &text)
{
    const std::string size = std::to_string(text.size());
    const auto length = http_message::field::make({.name = "Content-Length", .value = size});
    const auto head = http_message::response_head::make(
        {.minor_version = "1", .status = status, .reason = "", .fields_ = {*length}});
    return *http_message::response::make({.head = *head, .sized = std::string_view(text)});
}

} // namespace

int Count(Count_in *in, Count_out *out)
{
    out->connection = in->connection;
    std::uint64_t size = 0;
    std::uint32_t sum = 0;
    if (const auto content = in->message.stream()) {
        const auto pull = [&](std::span<std::byte> into) { return content->pull(into); };
        const auto all = flux::through_window(pull, [&](std::string_view piece) -> flux::io_result<void> {
            size += piece.size();
            for (const char one : piece) {
                sum = sum * 31 + static_cast<unsigned char>(one);
            }
            return {};
        });
        if (!all.has_value()) {
            return all.error();
        }
    }
    out->reply = reply_of("200", std::to_string(size) + " " + std::to_string(sum));
    return 0;
}

int Echo(Echo_in *in, Echo_out *out)
{
    flux::connection &to = *in->connection;
    out->connection = in->connection;
    const auto coding = http_message::field::make({.name = "Transfer-Encoding", .value = "chunked"});
    const auto head = http_message::response_head::make(
        {.minor_version = "1", .status = "200", .reason = "OK", .fields_ = {*coding}});
    if (const auto sent = to.send((*head).wire()); !sent.has_value()) {
        return sent.error();
    }
    if (const auto content = in->message.stream()) {
        const auto sent = flux::send_body(to, *content, [](std::string_view piece) {
            return http_message::chunk::make({.size = piece.size(), .content = piece});
        });
        if (!sent.has_value()) {
            return sent.error();
        }
    }
    const auto last = http_message::chunk::make({});
    return flux::take(to.send((*http_message::chunked_body::make({.chunks = {*last}})).wire()));
}

int Refuse(Refuse_in *in, Refuse_out *out)
{
    out->connection = in->connection;
    out->reply = reply_of("413", "too much");
    return 0;
}
