/// \file
/// The messages that all readers of a protocol read, and what each must find in them. What a reader finds is compared
/// before it is measured, so that all do the same work.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

/// What is wanted of a HTTP request.
struct http_result {
    static constexpr std::size_t most_fields = 64;

    struct field {
        std::string_view name;
        std::string_view value;

        bool operator==(const field &) const = default;
    };

    std::string_view method;
    std::string_view target;
    bool is_chunked = false;
    std::uint64_t length = 0;
    // Of the whole message, with its body.
    std::size_t size = 0;
    std::size_t count = 0;
    std::array<field, most_fields> fields;
};

/// What is wanted of a command in RESP: its words.
struct resp_result {
    static constexpr std::size_t most_words = 64;

    std::size_t count = 0;
    std::array<std::string_view, most_words> words;
};

/// What is wanted of a message of memcached.
struct memcached_result {
    std::uint8_t opcode = 0;
    std::uint32_t opaque = 0;
    std::uint64_t cas = 0;
    std::string_view extras;
    std::string_view key;
    std::string_view value;

    bool operator==(const memcached_result &) const = default;
};

/// Reads one message at the beginning of these bytes; gives how many bytes it has, 0 where they are no message.
template <class Result>
using read_function = std::size_t (*)(std::string_view, Result &);

std::size_t http_by_flux(std::string_view bytes, http_result &result);
std::size_t http_by_flux_with_fields(std::string_view bytes, http_result &result);
std::size_t http_by_llhttp(std::string_view bytes, http_result &result);
std::size_t http_by_picohttpparser(std::string_view bytes, http_result &result);

std::size_t resp_by_flux(std::string_view bytes, resp_result &result);
std::size_t resp_by_flux_with_words(std::string_view bytes, resp_result &result);
std::size_t resp_by_hiredis(std::string_view bytes, resp_result &result);
std::size_t resp_by_hiredis_without_objects(std::string_view bytes, resp_result &result);

std::size_t memcached_by_flux(std::string_view bytes, memcached_result &result);
std::size_t memcached_by_hand(std::string_view bytes, memcached_result &result);
