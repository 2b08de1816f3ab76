#include "flux/insight/json_text.hpp"

#include <cinttypes>

namespace flux {

std::string quoted(std::string_view value)
{
    formatted_text escaped;
    escaped.all = "\"";
    for (const char each : value) {
        const auto byte = static_cast<unsigned char>(each);
        if (byte == '"' || byte == '\\') {
            escaped.add("\\%c", byte);
        } else if (byte < 0x20) {
            escaped.add("\\u%04x", byte);
        } else {
            escaped.all += each;
        }
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
