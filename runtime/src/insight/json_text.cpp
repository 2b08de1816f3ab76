#include "flux/insight/json_text.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstddef>

namespace flux {

namespace {

// How many bytes the first character takes; 0 where it is none of UTF-8 (The Unicode Standard, table 3-7).
std::size_t character_size(std::string_view text) noexcept
{
    const auto byte = [text](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
    const unsigned first = byte(0);
    if (first < 0x80) {
        return 1;
    }
    if (first < 0xc2 || first > 0xf4) {
        return 0;
    }
    // No form that is too long, no surrogate, and nothing beyond U+10FFFF.
    const unsigned lowest = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const unsigned highest = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    bool is_right = byte(1) >= lowest && byte(1) <= highest;
    const std::size_t size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    for (std::size_t at = 2; at < size; ++at) {
        is_right = is_right && (byte(at) & 0xc0) == 0x80;
    }
    return is_right ? size : 0;
}

} // namespace

std::string quoted(std::string_view value)
{
    formatted_text escaped;
    escaped.all = "\"";
    while (!value.empty()) {
        const std::size_t size = character_size(value);
        const auto byte = static_cast<unsigned char>(value.front());
        if (size == 0) {
            escaped.all += "\ufffd";
        } else if (byte == '"' || byte == '\\') {
            escaped.add("\\%c", byte);
        } else if (byte < 0x20) {
            escaped.add("\\u%04x", byte);
        } else {
            escaped.all += value.substr(0, size);
        }
        value.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return escaped.all + "\"";
}

std::string json_texts(const std::optional<std::vector<const char *>> &texts)
{
    if (!texts) {
        return "null";
    }
    std::string json = "[";
    for (const char *const each : *texts) {
        json += (json.size() == 1 ? "" : ", ") + quoted(each);
    }
    return json + "]";
}

std::string json_numbers(std::span<const std::uint64_t> numbers)
{
    formatted_text json;
    for (const std::uint64_t &each : numbers) {
        json.add("%s%" PRIu64, &each == numbers.data() ? "[" : ", ", each);
    }
    return numbers.empty() ? "[]" : json.all + "]";
}

} // namespace flux
