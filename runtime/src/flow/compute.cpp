#include "flux/flow/compute.hpp"

namespace flux::compute {
namespace {

constexpr std::string_view white_space = " \t\r\n\v\f";

constexpr char distance = 'a' - 'A';

} // namespace

void fail(int code)
{
    throw failure{code};
}

std::uint64_t position(std::string_view text, std::string_view part)
{
    const std::size_t found = text.find(part);
    if (found == std::string_view::npos) {
        fail(no_element);
    }
    return found;
}

std::string lower(std::string_view text)
{
    std::string lowered(text);
    for (char &letter : lowered) {
        letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + distance) : letter;
    }
    return lowered;
}

std::string upper(std::string_view text)
{
    std::string raised(text);
    for (char &letter : raised) {
        letter = letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - distance) : letter;
    }
    return raised;
}

std::string trim(std::string_view text)
{
    const std::size_t first = text.find_first_not_of(white_space);
    if (first == std::string_view::npos) {
        return {};
    }
    return std::string(text.substr(first, text.find_last_not_of(white_space) - first + 1));
}

std::vector<std::string> split(std::string_view text, std::string_view separator)
{
    std::vector<std::string> parts;
    while (!separator.empty()) {
        const std::size_t end = text.find(separator);
        if (end == std::string_view::npos) {
            break;
        }
        parts.emplace_back(text.substr(0, end));
        text.remove_prefix(end + separator.size());
    }
    parts.emplace_back(text);
    return parts;
}

std::string join(const std::vector<std::string> &texts, std::string_view separator)
{
    std::size_t size = 0;
    for (const std::string &text : texts) {
        size += text.size() + separator.size();
    }
    require_room(size);
    std::string all;
    all.reserve(size);
    for (const std::string &text : texts) {
        all += &text == texts.data() ? std::string_view() : separator;
        all += text;
    }
    return all;
}

} // namespace flux::compute
