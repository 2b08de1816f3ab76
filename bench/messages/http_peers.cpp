/// \file
/// HTTP requests by llhttp, whose callbacks note what it finds, and by picohttpparser with its array of fields. Both
/// leave it to their caller to decide by the fields how long the body is; what is decided here is what the grammar in
/// std.http_message decides. llhttp decides itself.
#include "cases.hpp"

#include <cstring>
#include <llhttp/llhttp.h>
#include <strings.h>
#include <sys/types.h>

// Debian's libh2o has these functions, and no header for them.
extern "C" {
struct phr_header {
    const char *name;
    std::size_t name_len;
    const char *value;
    std::size_t value_len;
};
struct phr_chunked_decoder {
    std::size_t bytes_left_in_chunk;
    char consume_trailer;
    char _hex_count;
    char _state;
};
int phr_parse_request(const char *buf, std::size_t len, const char **method, std::size_t *method_len, const char **path,
                      std::size_t *path_len, int *minor_version, phr_header *headers, std::size_t *num_headers,
                      std::size_t last_len);
ssize_t phr_decode_chunked(phr_chunked_decoder *decoder, char *buf, std::size_t *bufsz);
}

namespace {

http_result &result_of(llhttp_t *parser) { return *static_cast<http_result *>(parser->data); }

int note_method(llhttp_t *parser, const char *at, std::size_t size)
{
    result_of(parser).method = {at, size};
    return 0;
}

int note_target(llhttp_t *parser, const char *at, std::size_t size)
{
    result_of(parser).target = {at, size};
    return 0;
}

int note_name(llhttp_t *parser, const char *at, std::size_t size)
{
    http_result &result = result_of(parser);
    if (result.count == http_result::most_fields) {
        return -1;
    }
    result.fields[result.count].name = {at, size};
    return 0;
}

int note_value(llhttp_t *parser, const char *at, std::size_t size)
{
    http_result &result = result_of(parser);
    result.fields[result.count].value = {at, size};
    ++result.count;
    return 0;
}

int note_head(llhttp_t *parser)
{
    http_result &result = result_of(parser);
    result.is_chunked = (parser->flags & F_CHUNKED) != 0;
    result.length = result.is_chunked ? 0 : parser->content_length;
    return 0;
}

// The next message is another's.
int end_message(llhttp_t *) { return HPE_PAUSED; }

llhttp_settings_t make_settings()
{
    llhttp_settings_t settings;
    llhttp_settings_init(&settings);
    settings.on_method = note_method;
    settings.on_url = note_target;
    settings.on_header_field = note_name;
    settings.on_header_value = note_value;
    settings.on_headers_complete = note_head;
    settings.on_message_complete = end_message;
    return settings;
}

bool is_name(const phr_header &field, std::string_view wanted)
{
    return field.name_len == wanted.size() && strncasecmp(field.name, wanted.data(), wanted.size()) == 0;
}

bool to_number(std::string_view text, std::uint64_t &number)
{
    number = 0;
    for (const char digit : text) {
        if (digit < '0' || digit > '9' || __builtin_mul_overflow(number, std::uint64_t{10}, &number) ||
            __builtin_add_overflow(number, static_cast<std::uint64_t>(digit - '0'), &number)) {
            return false;
        }
    }
    return !text.empty();
}

/// What the fields say of the length; false where they contradict each other.
bool decide(const phr_header *fields, std::size_t count, int minor_version, http_result &result)
{
    bool has_host = false;
    bool has_length = false;
    result.is_chunked = false;
    result.length = 0;
    for (std::size_t index = 0; index < count; ++index) {
        const phr_header &field = fields[index];
        const std::string_view value = {field.value, field.value_len};
        switch (field.name_len) {
        case 4:
            if (is_name(field, "host")) {
                if (has_host) {
                    return false;
                }
                has_host = true;
            }
            break;
        case 14:
            if (is_name(field, "content-length")) {
                if (has_length || result.is_chunked || !to_number(value, result.length)) {
                    return false;
                }
                has_length = true;
            }
            break;
        case 17:
            if (is_name(field, "transfer-encoding")) {
                const bool is_known = value.size() == 7 && strncasecmp(value.data(), "chunked", 7) == 0;
                if (has_length || result.is_chunked || !is_known || minor_version == 0) {
                    return false;
                }
                result.is_chunked = true;
            }
            break;
        default:
            break;
        }
    }
    return has_host || minor_version == 0;
}

} // namespace

std::size_t http_by_llhttp(std::string_view bytes, http_result &result)
{
    static const llhttp_settings_t settings = make_settings();
    llhttp_t parser;
    llhttp_init(&parser, HTTP_REQUEST, &settings);
    parser.data = &result;
    result.count = 0;
    if (llhttp_execute(&parser, bytes.data(), bytes.size()) != HPE_PAUSED) {
        return 0;
    }
    result.size = static_cast<std::size_t>(llhttp_get_error_pos(&parser) - bytes.data());
    return result.size;
}

std::size_t http_by_picohttpparser(std::string_view bytes, http_result &result)
{
    phr_header fields[http_result::most_fields];
    std::size_t count = http_result::most_fields;
    const char *method = nullptr;
    const char *target = nullptr;
    std::size_t method_size = 0;
    std::size_t target_size = 0;
    int minor_version = 0;
    const int head = phr_parse_request(bytes.data(), bytes.size(), &method, &method_size, &target, &target_size,
                                       &minor_version, fields, &count, 0);
    if (head <= 0 || !decide(fields, count, minor_version, result)) {
        return 0;
    }
    result.method = {method, method_size};
    result.target = {target, target_size};
    // Its array is the result; this one is the same for who compares.
    result.count = count;
    static_assert(sizeof(phr_header) == sizeof(http_result::field));
    for (std::size_t index = 0; index < count; ++index) {
        result.fields[index] = {{fields[index].name, fields[index].name_len},
                                {fields[index].value, fields[index].value_len}};
    }
    const auto head_size = static_cast<std::size_t>(head);
    if (result.is_chunked) {
        // It decodes a body where it is.
        static thread_local char body[4096];
        const std::size_t rest = bytes.size() - head_size;
        if (rest > sizeof body) {
            return 0;
        }
        std::memcpy(body, bytes.data() + head_size, rest);
        phr_chunked_decoder decoder = {0, 1, 0, 0};
        std::size_t decoded = rest;
        const ssize_t left = phr_decode_chunked(&decoder, body, &decoded);
        if (left < 0) {
            return 0;
        }
        result.size = bytes.size() - static_cast<std::size_t>(left);
        return result.size;
    }
    if (bytes.size() - head_size < result.length) {
        return 0;
    }
    result.size = head_size + static_cast<std::size_t>(result.length);
    return result.size;
}
