// What must hold of a class that is generated of a message, whatever bytes it reads. Where it does not, the process
// ends.
//
// Read at once, in pieces, and byte by byte the same comes of bytes; no byte is looked at before it has come; every
// function of the class can be called, and twice; of the values that were read a message is made that has the same;
// where streams go along instead of being kept, the message is as long, or as wrong; and a quick reading finds the
// same.
#pragma once

#include "flux/message/quick_reading.hpp"
#include "flux/message/reader.hpp"
#include "flux/message/streamed_parse.hpp"
#include "flux/message/typed_parse.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace harness {

[[noreturn]] inline void broken(const char *what, const std::string &one, const std::string &other)
{
    std::fprintf(stderr, "%s: %s instead of %s\n", what, one.c_str(), other.c_str());
    std::abort();
}

/// How exactly what is made of the values of a message is that message.
enum class fidelity {
    /// Some of what was read has no name, so that it cannot be given.
    loose,
    /// The same values; there are several ways to write them.
    same_values,
    same_bytes,
};

/// What is made is what is read of its bytes, whether or not the function that makes it has read them itself.
template <class Message>
void compare_with_read(const Message &made)
{
    const std::string_view wire = made.wire();
    flux::unfinished_message unfinished;
    unfinished.keep_streams();
    typename Message::places at{};
    flux::message_reader in(wire, true, unfinished);
    if (Message::read(in, at) != flux::reading::whole || in.size() != wire.size()) {
        broken("what is made cannot be read", std::string(in.fault().text), std::string(wire));
    }
    const Message again(flux::message_bytes::copy_of(std::as_bytes(std::span(wire))), at);
    std::string got;
    std::string wanted;
    show(made, got);
    show(again, wanted);
    if (got != wanted) {
        broken("what is made is read as something else", got, wanted);
    }
}

/// The same with other values of one text, which `set` gives the fields and `value` asks for: those that make no
/// message are refused.
template <class Message, class Set, class Value>
void compare_with_other_texts(typename Message::fields given, Set set, Value value)
{
    static int turns_left = 20;
    if (turns_left == 0) {
        return;
    }
    --turns_left;
    const std::string large(70'000, 'x');
    for (const std::string_view text : {std::string_view("", 0), std::string_view("\r\n"), std::string_view("a\r"),
                                        std::string_view("\r\na"), std::string_view("\0\n ;", 4),
                                        std::string_view(large).substr(0, 300), std::string_view(large)}) {
        set(given, text);
        if (const auto made = Message::make(given); made.has_value()) {
            compare_with_read(*made);
            if (value(*made) != text) {
                broken("what is made has another text", std::string(value(*made)), std::string(text));
            }
        }
    }
}

template <class Message>
void compare_made(const Message &read, const typename Message::fields &given, fidelity fidelity)
{
    if (read.wire().empty()) {
        return;
    }
    const auto made = Message::make(given);
    if (fidelity == fidelity::loose) {
        return;
    }
    std::string wanted;
    show(read, wanted);
    if (!made.has_value()) {
        broken("what was read is not made again", "nothing", wanted);
    }
    std::string got;
    show(*made, got);
    if (got != wanted) {
        broken("what is made has other values", got, wanted);
    }
    if (fidelity == fidelity::same_bytes && (*made).wire() != read.wire()) {
        broken("what is made has other bytes", std::string((*made).wire()), std::string(read.wire()));
    }
}

/// What comes of `all` if so many bytes of it have come each time.
template <class Message>
std::string read_in(std::string_view all, const std::vector<std::size_t> &arrivals, bool is_end)
{
    flux::unfinished_message unfinished;
    unfinished.keep_streams();
    typename Message::places at;
    for (const std::size_t size : arrivals) {
        // Of its own size, so that a sanitizer finds each byte that is looked at too early.
        const std::vector<char> bytes(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size));
        const bool ends = is_end && size == all.size();
        flux::message_reader in(std::string_view(bytes.data(), bytes.size()), ends, unfinished);
        switch (Message::read(in, at)) {
        case flux::reading::whole: {
            const auto kept = flux::message_bytes::copy_of(std::as_bytes(std::span(all.data(), in.size())));
            const Message message(kept, at);
            if (message.wire() != all.substr(0, in.size())) {
                broken("the message has other bytes", std::string(message.wire()), std::string(all));
            }
            std::string shown;
            show(message, shown);
            if (arrivals.size() == 1) {
                check(message);
            }
            return "whole " + std::to_string(in.size()) + " " + shown;
        }
        case flux::reading::wrong:
            if (in.fault().text == std::string_view("the data ends too early")) {
                return "early end";
            }
            return "wrong " + std::to_string(in.fault().offset) + " " + in.fault().field();
        case flux::reading::unfinished:
            if (in.wanted() == 0 || ends) {
                broken("nothing is wanted", std::to_string(in.wanted()), "a number of bytes");
            }
            break;
        case flux::reading::no_memory:
            throw std::bad_alloc();
        }
    }
    return "unfinished";
}

/// What comes of the bytes behind the part of a message before its first stream, in pieces of at most this size.
inline std::string stream_in(flux::message_parse &parse, std::string_view all, std::size_t step, bool is_end)
{
    flux::streamed_parse streamed(parse, std::as_bytes(std::span(all.data(), parse.size())));
    std::size_t at = parse.size();
    std::size_t behind = 0;
    while (!streamed.has_ended()) {
        if (at == all.size() && !is_end) {
            return "unfinished";
        }
        const std::string_view next = all.substr(at, step);
        const std::vector<char> come(next.begin(), next.end());
        const auto piece = streamed.next(std::as_bytes(std::span(come)));
        if (piece.what == flux::streamed_parse::kind::wrong) {
            return "wrong";
        }
        if (piece.what == flux::streamed_parse::kind::broken_off) {
            return "early end";
        }
        at += piece.size;
        behind = piece.what == flux::streamed_parse::kind::content ? 0 : behind + piece.size;
    }
    // The last stream may have no bytes.
    if (const std::string wanted(all.substr(at - behind, behind)); !wanted.ends_with(streamed.behind())) {
        broken("behind the last stream is something else", streamed.behind(), wanted);
    }
    return "whole " + std::to_string(at);
}

/// The same from its first byte on.
template <class Message>
std::string read_streamed(std::string_view all, std::size_t step, bool is_end)
{
    flux::typed_parse<Message> parse;
    for (std::size_t size = std::min(step, all.size());; size = std::min(size + step, all.size())) {
        const std::vector<char> come(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size));
        const bool ends = is_end && size == all.size();
        switch (parse.read(std::string_view(come.data(), come.size()), ends)) {
        case flux::message_parse::state::wrong:
            return parse.fault().find("the data ends too early") == std::string::npos ? "wrong" : "early end";
        case flux::message_parse::state::whole:
            return parse.ahead() != nullptr ? stream_in(parse, all, step, is_end)
                                            : "whole " + std::to_string(parse.size());
        case flux::message_parse::state::unfinished:
            break;
        case flux::message_parse::state::no_memory:
            throw std::bad_alloc();
        }
        if (size == all.size()) {
            return "unfinished";
        }
    }
}

/// Whether a message would be larger than it may be.
template <class Message>
bool is_too_large(std::string_view bytes, bool is_end)
{
    flux::unfinished_message unfinished;
    unfinished.keep_streams();
    typename Message::places at;
    flux::message_reader in(bytes, is_end, unfinished);
    return Message::read(in, at) == flux::reading::wrong &&
           in.fault().text == std::string_view(flux::message_fault::too_large);
}

/// Holds that the same comes of a message when its streams go along. Only then may they be larger than the message.
template <class Message>
void stream(std::string_view bytes, const std::string &whole, bool is_end)
{
    for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::max<std::size_t>(bytes.size(), 1)}) {
        const std::string streamed = read_streamed<Message>(bytes, step, is_end);
        const bool is_same = streamed.starts_with("whole ") ? whole.starts_with(streamed + " ")
                                                            : whole.starts_with(streamed);
        if (!is_same && !is_too_large<Message>(bytes, is_end)) {
            broken(("streamed by " + std::to_string(step)).c_str(), streamed, whole);
        }
    }
}

/// Holds that a quick reading finds the same, and refuses nothing that is whole without the end of the data; but what
/// has no bytes, and where bytes are beyond what the message may have, of which one may decide where it ends.
template <class Message>
void read_quickly(std::string_view all, const std::string &whole)
{
    const std::vector<char> bytes(all.begin(), all.end());
    // Some need no places that have values.
    union any_places {
        any_places() { std::memset(static_cast<void *>(this), 0xa5, sizeof *this); }
        typename Message::places at;
    } any;
    typename Message::places &at = Message::facts.is_sized ? any.at : *new (&any.at) typename Message::places;
    const std::string_view view(bytes.data(), bytes.size());
    if (const char *const after = flux::read_quickly<Message>(view, true, at).after) {
        const auto size = static_cast<std::size_t>(after - bytes.data());
        std::string shown;
        show(Message(flux::message_bytes::copy_of(std::as_bytes(std::span(all.data(), size))), at), shown);
        const std::string quick = "whole " + std::to_string(size) + " " + shown;
        if (quick != whole) {
            broken("read quickly", quick, whole);
        }
    } else if (!all.empty() && all.size() <= Message::facts.max_size &&
               read_in<Message>(all, {all.size()}, false).starts_with("whole ")) {
        broken("read quickly", "refused", whole);
    }
}

/// What comes of bytes, split in `most` places or at every offset, and one by one.
template <class Message>
std::string hold(std::string_view bytes, bool is_end, std::size_t most)
{
    const std::string whole = read_in<Message>(bytes, {bytes.size()}, is_end);
    read_quickly<Message>(bytes, whole);
    const std::size_t step = 1 + bytes.size() / std::max<std::size_t>(most, 1);
    for (std::size_t size = bytes.size() % step; size <= bytes.size(); size += step) {
        const std::string split = read_in<Message>(bytes, {size, bytes.size()}, is_end);
        if (split != whole) {
            broken(("split at " + std::to_string(size)).c_str(), split, whole);
        }
    }
    std::vector<std::size_t> one_by_one;
    const std::size_t piece = 1 + bytes.size() / 4096;
    for (std::size_t size = 0; size < bytes.size(); size += piece) {
        one_by_one.push_back(size);
    }
    one_by_one.push_back(bytes.size());
    const std::string pieces = read_in<Message>(bytes, one_by_one, is_end);
    if (pieces != whole) {
        broken("one by one", pieces, whole);
    }
    if constexpr (flux::has_streams<Message>()) {
        stream<Message>(bytes, whole, is_end);
    }
    return whole;
}

} // namespace harness
