#include "flux/flow/key_text.hpp"

namespace flux {
namespace {

// How many bytes the character takes that begins here, and 0 where none does: table 3-7 of the Unicode standard, but
// that of second bytes only those are looked at which make no overlong form and no surrogate.
std::size_t character_size(std::string_view from) noexcept
{
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(from[at]); };
    const unsigned char first = byte(0);
    if (first < 0x80) {
        return first >= 0x20 && first != 0x7f ? 1 : 0;
    }
    const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || from.size() < size) {
        return 0;
    }
    const unsigned char least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const unsigned char highest = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    // The control characters of Latin-1 are U+0080 to U+009F.
    if (byte(1) < least || byte(1) > highest || (first == 0xc2 && byte(1) < 0xa0)) {
        return 0;
    }
    for (std::size_t at = 2; at < size; ++at) {
        if (byte(at) < 0x80 || byte(at) > 0xbf) {
            return 0;
        }
    }
    return size;
}

// Whether a character begins here that was cut.
bool is_cut_character(std::string_view rest) noexcept
{
    constexpr std::size_t longest = 4;
    const auto first = static_cast<unsigned char>(rest[0]);
    return rest.size() < longest && first >= 0xc2 && first <= 0xf4 &&
           std::all_of(rest.begin() + 1, rest.end(), [](char each) { return (each & 0xc0) == 0x80; });
}

} // namespace

std::string key_text::shown() const
{
    std::string text;
    for (std::string_view rest(bytes_.data(), size_); !rest.empty();) {
        const std::size_t size = character_size(rest);
        if (size == 0 && is_cut_ && is_cut_character(rest)) {
            break;
        }
        if (size == 0) {
            const unsigned char byte = static_cast<unsigned char>(rest[0]);
            constexpr char digits[] = "0123456789abcdef";
            text += {'\\', 'x', digits[byte / 16], digits[byte % 16]};
        } else {
            text += rest[0] == '\\' ? "\\\\" : rest.substr(0, size);
        }
        rest.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return is_cut_ ? text + "..." : text;
}

} // namespace flux
