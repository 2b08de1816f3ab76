/// \file
/// JSON (RFC 8259) as the server writes it: only what its texts consist of.
#pragma once

#include "flux/insight/formatted_text.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace flux {

/// The text as a string of JSON, with its quotes. Bytes that are no ASCII stay as they are. Throws `std::bad_alloc`.
std::string quoted(std::string_view value);

/// The numbers as an array on one line. Throws `std::bad_alloc`.
std::string json_numbers(std::span<const std::uint64_t> numbers);

/// The texts as an array on one line; null where there is none. Throws `std::bad_alloc`.
std::string json_texts(const std::optional<std::vector<const char *>> &texts);

/// Adds a member whose value is an array of objects, each on a line of its own: what `each` adds for an element stands
/// between the braces. `after` follows the array. Throws `std::bad_alloc`.
template <class Elements, class Each>
void add_list(formatted_text &json, const char *name, const Elements &elements, const char *after, Each each)
{
    json.add("  \"%s\": [", name);
    const char *separator = "\n    {";
    for (const auto &element : elements) {
        json.all += separator;
        each(element);
        json.all += "}";
        separator = ",\n    {";
    }
    json.add("%s]%s\n", elements.empty() ? "" : "\n  ", after);
}

} // namespace flux
