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

/// Reads a message with care, and notes what it has found; gives its size.
template <class Message, auto note, class Result>
[[gnu::noinline]] std::size_t read_with_care(std::string_view bytes, Result &result)
{
    typename Message::places at;
    flux::unfinished_message nothing;
    nothing.keep_streams();
    flux::message_reader in(bytes, false, nothing);
    if (Message::read(in, at) != flux::reading::whole) {
        return 0;
    }
    note(bytes, at, result);
    return in.size();
}

/// Reads a message as what receives messages does: quickly, and with care where that says no; gives its size. The
/// bodies of requests are in memory, so they are read as other bytes.
template <class Message, auto note, class Result>
std::size_t read(std::string_view bytes, Result &result)
{
    // Places have values before only where the reading needs them.
    union unset {
        unset() {}
        typename Message::places at;
    } places;
    if constexpr (!Message::facts.is_sized) {
        new (static_cast<void *>(&places.at)) typename Message::places;
    }
    const char *const after = flux::read_quickly<Message>(bytes, true, places.at).after;
    if (after == nullptr) [[unlikely]] {
        return read_with_care<Message, note>(bytes, result);
    }
    note(bytes, places.at, result);
    return static_cast<std::size_t>(after - bytes.data());
}

[[gnu::always_inline]] inline void
note_request(std::string_view bytes, const http_message::request::places &at, http_result &result)
{
    result.method = at.head.method.of(bytes.data());
    result.target = at.head.target.of(bytes.data());
    result.is_chunked = at.head.is_chunked;
    result.length = at.head.length;
    result.count = at.head.fields.count;
    result.size = static_cast<const flux::message_places &>(at).whole.end;
}

[[gnu::always_inline]] inline void
note_request_with_fields(std::string_view bytes, const http_message::request::places &at, http_result &result)
{
    note_request(bytes, at, result);
    const flux::message_parts &list = at.head.fields;
    std::size_t begin = list.begin;
    for (std::size_t index = 0; index < list.count; ++index) {
        http_message::field::places field;
        begin = flux::find_again<http_message::field>({bytes.data(), list.end}, begin, field);
        result.fields[index] = {field.name.of(bytes.data()), flux::formula::trim(field.value.of(bytes.data()))};
    }
}

[[gnu::always_inline]] inline void
note_count(std::string_view, const resp::value::places &at, resp_result &result)
{
    result.count = at.array.elements.count;
}

[[gnu::always_inline]] inline void
note_words(std::string_view bytes, const resp::value::places &at, resp_result &result)
{
    const flux::message_parts &list = at.array.elements;
    result.count = list.count;
    std::size_t begin = list.begin;
    for (std::size_t index = 0; index < list.count; ++index) {
        resp::value::places word;
        begin = flux::find_again<resp::value>({bytes.data(), list.end}, begin, word);
        result.words[index] = word.bulk.content.of(bytes.data());
    }
}

[[gnu::always_inline]] inline void
note_command(std::string_view bytes, const memcached::command::places &at, memcached_result &result)
{
    result.opcode = flux::wire::big<std::uint8_t>(bytes.data() + 1);
    result.opaque = flux::wire::big<std::uint32_t>(bytes.data() + 12);
    result.cas = flux::wire::big<std::uint64_t>(bytes.data() + 16);
    result.extras = {bytes.data() + 24, at.key.begin - std::size_t{24}};
    result.key = at.key.of(bytes.data());
    result.value = at.value.of(bytes.data());
}

} // namespace

std::size_t http_by_flux(std::string_view bytes, http_result &result)
{
    return read<http_message::request, note_request>(bytes, result);
}

std::size_t http_by_flux_with_fields(std::string_view bytes, http_result &result)
{
    return read<http_message::request, note_request_with_fields>(bytes, result);
}

std::size_t resp_by_flux(std::string_view bytes, resp_result &result)
{
    return read<resp::value, note_count>(bytes, result);
}

std::size_t resp_by_flux_with_words(std::string_view bytes, resp_result &result)
{
    return read<resp::value, note_words>(bytes, result);
}

std::size_t memcached_by_flux(std::string_view bytes, memcached_result &result)
{
    return read<memcached::command, note_command>(bytes, result);
}
