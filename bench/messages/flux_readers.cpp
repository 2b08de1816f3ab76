/// \file
/// The readers that the compiler has generated of the standard grammars. What they find is taken from the places of the
/// fields, as the functions of a message's class take it; elements of lists are found as its lists find them.
#include "cases.hpp"

#include "flux/message/reader.hpp"
#include "flux/message/wire.hpp"

#include <http_message.flux.messages.h>
#include <memcached.flux.messages.h>
#include <resp.flux.messages.h>

namespace {

// Nothing has been read before. The bodies of requests are in memory, so they are read as other bytes.
flux::unfinished_message nothing = [] {
    flux::unfinished_message fresh;
    fresh.keep_streams();
    return fresh;
}();

std::string_view view(std::string_view bytes, const flux::message_part &part)
{
    return {bytes.data() + part.begin, part.end - part.begin};
}

/// Reads a request, and gives where its fields are.
const http_message::request::places *read_request(std::string_view bytes, http_result &result,
                                                  http_message::request::places &at)
{
    flux::message_reader in(bytes, false, nothing);
    if (http_message::request::read(in, at) != flux::reading::whole) {
        return nullptr;
    }
    result.method = view(bytes, at.head.method);
    result.target = view(bytes, at.head.target);
    result.is_chunked = at.head.is_chunked;
    result.length = at.head.length;
    result.count = at.head.fields.count;
    result.size = in.size();
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
        begin = flux::message_reader::found<http_message::field>({bytes.data(), list.end}, begin, field);
        result.fields[index] = {view(bytes, field.name), flux::formula::trim(view(bytes, field.value))};
    }
    return result.size;
}

std::size_t resp_by_flux(std::string_view bytes, resp_result &result)
{
    resp::value::places at;
    flux::message_reader in(bytes, false, nothing);
    if (resp::value::read(in, at) != flux::reading::whole) {
        return 0;
    }
    result.count = at.array.elements.count;
    return in.size();
}

std::size_t resp_by_flux_with_words(std::string_view bytes, resp_result &result)
{
    resp::value::places at;
    flux::message_reader in(bytes, false, nothing);
    if (resp::value::read(in, at) != flux::reading::whole) {
        return 0;
    }
    const flux::message_parts &list = at.array.elements;
    result.count = list.count;
    std::size_t begin = list.begin;
    for (std::size_t index = 0; index < result.count; ++index) {
        resp::value::places word;
        begin = flux::message_reader::found<resp::value>({bytes.data(), list.end}, begin, word);
        result.words[index] = view(bytes, word.bulk.content);
    }
    return in.size();
}

std::size_t memcached_by_flux(std::string_view bytes, memcached_result &result)
{
    memcached::command::places at;
    flux::message_reader in(bytes, false, nothing);
    if (memcached::command::read(in, at) != flux::reading::whole) {
        return 0;
    }
    result.opcode = flux::wire::big<std::uint8_t>(bytes.data() + 1);
    result.opaque = flux::wire::big<std::uint32_t>(bytes.data() + 12);
    result.cas = flux::wire::big<std::uint64_t>(bytes.data() + 16);
    result.extras = {bytes.data() + 24, at.key.begin - 24};
    result.key = view(bytes, at.key);
    result.value = view(bytes, at.value);
    return in.size();
}
