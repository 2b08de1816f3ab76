/// \file
/// The readers that the compiler has generated of the standard grammars. What they find is taken from the places of the
/// fields, as the functions of a message's class take it; elements of lists are found as its lists find them.
#include "cases.hpp"

#include "flux/message/quick_reading.hpp"
#include "flux/message/reader.hpp"
#include "flux/message/wire.hpp"

#include <http_message.flux.messages.h>
#include <memcached.flux.messages.h>
#include <resp.flux.messages.h>

namespace {

/// Reads a message with care; gives its size.
template <class Message>
[[gnu::noinline]] std::size_t read_with_care(std::string_view bytes, typename Message::places &at)
{
    new (&at) typename Message::places;
    flux::unfinished_message nothing;
    nothing.keep_streams();
    flux::message_reader in(bytes, false, nothing);
    return Message::read(in, at) == flux::reading::whole ? in.size() : 0;
}

/// Reads a message as what receives messages does: quickly, and with care where that says no; gives its size. The
/// bodies of requests are in memory, so they are read as other bytes.
template <class Message>
std::size_t read(std::string_view bytes, typename Message::places &at)
{
    if (const char *const after = flux::read_quickly<Message>(bytes, true, at).after) {
        return static_cast<std::size_t>(after - bytes.data());
    }
    return read_with_care<Message>(bytes, at);
}

std::string_view view(std::string_view bytes, const flux::message_part &part)
{
    return {bytes.data() + part.begin, part.end - part.begin};
}

/// Reads a request, and gives where its fields are.
const http_message::request::places *read_request(std::string_view bytes, http_result &result,
                                                  http_message::request::places &at)
{
    const std::size_t size = read<http_message::request>(bytes, at);
    if (size == 0) {
        return nullptr;
    }
    result.method = view(bytes, at.head.method);
    result.target = view(bytes, at.head.target);
    result.is_chunked = at.head.is_chunked;
    result.length = at.head.length;
    result.count = at.head.fields.count;
    result.size = size;
    return &at;
}

} // namespace

std::size_t http_by_flux(std::string_view bytes, http_result &result)
{
    http_message::request::places at;
    return read_request(bytes, result, at) == nullptr ? 0 : result.size;
}

std::size_t http_by_flux_with_fields(std::string_view bytes, http_result &result)
{
    http_message::request::places at;
    if (read_request(bytes, result, at) == nullptr) {
        return 0;
    }
    const flux::message_parts &list = at.head.fields;
    std::size_t begin = list.begin;
    for (std::size_t index = 0; index < result.count; ++index) {
        http_message::field::places field;
        begin = flux::find_again<http_message::field>({bytes.data(), list.end}, begin, field);
        result.fields[index] = {view(bytes, field.name), flux::formula::trim(view(bytes, field.value))};
    }
    return result.size;
}

std::size_t resp_by_flux(std::string_view bytes, resp_result &result)
{
    resp::value::places at;
    const std::size_t size = read<resp::value>(bytes, at);
    if (size == 0) {
        return 0;
    }
    result.count = at.array.elements.count;
    return size;
}

std::size_t resp_by_flux_with_words(std::string_view bytes, resp_result &result)
{
    resp::value::places at;
    const std::size_t size = read<resp::value>(bytes, at);
    if (size == 0) {
        return 0;
    }
    const flux::message_parts &list = at.array.elements;
    result.count = list.count;
    std::size_t begin = list.begin;
    for (std::size_t index = 0; index < result.count; ++index) {
        resp::value::places word;
        begin = flux::find_again<resp::value>({bytes.data(), list.end}, begin, word);
        result.words[index] = view(bytes, word.bulk.content);
    }
    return size;
}

std::size_t memcached_by_flux(std::string_view bytes, memcached_result &result)
{
    memcached::command::places at;
    const std::size_t size = read<memcached::command>(bytes, at);
    if (size == 0) {
        return 0;
    }
    result.opcode = flux::wire::big<std::uint8_t>(bytes.data() + 1);
    result.opaque = flux::wire::big<std::uint32_t>(bytes.data() + 12);
    result.cas = flux::wire::big<std::uint64_t>(bytes.data() + 16);
    result.extras = {bytes.data() + 24, at.key.begin - 24};
    result.key = view(bytes, at.key);
    result.value = view(bytes, at.value);
    return size;
}
