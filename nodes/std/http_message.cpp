// The fields behind the chunks of a message: RFC 9112, 7.1.2.

#include "http_message.flux.h"

#include "flux/message/typed_parse.hpp"
#include "flux/message_stream.hpp"

#include <cerrno>
#include <new>
#include <optional>
#include <span>

namespace http_message {
namespace {

/// The message that begins these bytes, which are removed; none where they begin with no such message.
template <class Message>
std::optional<Message> first_of(std::string_view &bytes)
{
    flux::typed_parse<Message> parse;
    parse.keep_streams();
    const flux::message_parse::state come = parse.read(bytes, true);
    if (come == flux::message_parse::state::no_memory) {
        throw std::bad_alloc();
    }
    if (come != flux::message_parse::state::whole) {
        return std::nullopt;
    }
    parse.bytes = flux::message_bytes::copy_of(std::as_bytes(std::span(bytes.substr(0, parse.size()))));
    bytes.remove_prefix(parse.size());
    return parse.message();
}

/// The chunks of a message that is all there; nothing where it has none.
template <class Head>
std::string_view chunks_of(std::string_view bytes)
{
    const std::optional<Head> head = first_of<Head>(bytes);
    return head.has_value() && head->is_chunked() ? bytes : std::string_view();
}

} // namespace

std::vector<field> trailers_behind(std::string_view chunks)
{
    constexpr std::string_view end_of_chunk = "\r\n";
    chunks.remove_prefix(chunks.starts_with(end_of_chunk) ? end_of_chunk.size() : 0);
    std::optional<chunk> one;
    do {
        one = first_of<chunk>(chunks);
    } while (one.has_value() && one->size() != 0);
    const auto section = one.has_value() ? first_of<trailer_section>(chunks) : std::nullopt;
    if (!section.has_value()) {
        return {};
    }
    const auto fields = section->fields_();
    return {fields.begin(), fields.end()};
}

int Trailers(const flux::message &of, std::vector<field> &trailers)
{
    if (const std::shared_ptr<flux::message_stream> content = of.stream()) {
        if (!content->has_ended()) {
            return EBUSY;
        }
        trailers = trailers_behind(content->bytes_behind());
        return 0;
    }
    const std::string_view bytes = of.wire();
    trailers = trailers_behind(bytes.starts_with("HTTP/") ? chunks_of<response_head>(bytes)
                                                          : chunks_of<request_head>(bytes));
    return 0;
}

} // namespace http_message
