#include "flux/admin/admin_request.hpp"

#include <algorithm>
#include <array>

namespace flux {
namespace {

constexpr std::string_view line_end = "\r\n";
constexpr int more_to_come = 100;
constexpr int bad_request = 400;
constexpr int too_large = 431;
constexpr int other_version = 505;

char lowered(char letter) noexcept
{
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

bool equal_but_case(std::string_view left, std::string_view right) noexcept
{
    return std::ranges::equal(left, right, {}, lowered, lowered);
}

bool is_digit(char byte) noexcept
{
    return byte >= '0' && byte <= '9';
}

// RFC 9110, section 5.6.2.
bool is_token(std::string_view text) noexcept
{
    constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
    const auto is_right = [&](char byte) {
        const char letter = lowered(byte);
        return (letter >= 'a' && letter <= 'z') || is_digit(byte) || marks.find(byte) != marks.npos;
    };
    return !text.empty() && std::ranges::all_of(text, is_right);
}

bool is_printable(char byte) noexcept
{
    return byte > ' ' && byte < 0x7f;
}

// RFC 9110, section 5.5.
bool is_field_value(std::string_view text) noexcept
{
    return std::ranges::all_of(text, [](char byte) {
        return byte == '\t' || (static_cast<unsigned char>(byte) >= ' ' && byte != 0x7f);
    });
}

std::string_view trimmed(std::string_view text) noexcept
{
    constexpr std::string_view blanks = " \t";
    const std::size_t first = text.find_first_not_of(blanks);
    return first == text.npos ? std::string_view() : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// Takes what stands before `end` off the text, and that; all of it where it has no such end.
std::string_view take_until(std::string_view &text, std::string_view end) noexcept
{
    const std::size_t at = text.find(end);
    const std::string_view taken = text.substr(0, at);
    text.remove_prefix(at == text.npos ? text.size() : at + end.size());
    return taken;
}

int read_request_line(std::string_view line, admin_request &into) noexcept
{
    into.method = take_until(line, " ");
    std::string_view target = take_until(line, " ");
    if (!is_token(into.method) || !target.starts_with('/') || !std::ranges::all_of(target, is_printable)) {
        return bad_request;
    }
    into.path = take_until(target, "?");
    into.query = target;
    const bool is_version = line.size() == 8 && line.starts_with("HTTP/") && is_digit(line[5]) && line[6] == '.' &&
                            is_digit(line[7]);
    if (!is_version) {
        return bad_request;
    }
    return line[5] == '1' ? 0 : other_version;
}

int read_field(std::string_view line, admin_request &into) noexcept
{
    struct known_field {
        std::string_view name;
        std::string_view admin_request::*value;
    };
    static constexpr std::array known = {
        known_field{"host", &admin_request::host}, known_field{"origin", &admin_request::origin},
        known_field{"sec-fetch-site", &admin_request::fetch_site}, known_field{"accept", &admin_request::accept}};
    const bool has_colon = line.find(':') != line.npos;
    const std::string_view name = take_until(line, ":");
    const std::string_view value = trimmed(line);
    if (!has_colon || !is_token(name) || !is_field_value(value)) {
        return bad_request;
    }
    const bool has_body = equal_but_case(name, "transfer-encoding") ||
                          (equal_but_case(name, "content-length") && value != "0");
    if (has_body) {
        return bad_request;
    }
    for (const known_field &each : known) {
        if (equal_but_case(name, each.name)) {
            std::string_view &place = into.*each.value;
            // Twice the same field is no right request, but for lists, and of these only the first part matters.
            if (place.data() != nullptr && each.value != &admin_request::accept) {
                return bad_request;
            }
            place = value;
        }
    }
    return 0;
}

// Whether a name or address with a port or without one is always this machine's.
bool is_this_machine(std::string_view host) noexcept
{
    if (host.starts_with('[')) {
        return take_until(host, "]") == "[::1" && (host.empty() || host.starts_with(':'));
    }
    std::string_view name = take_until(host, ":");
    if (equal_but_case(name, "localhost")) {
        return true;
    }
    const bool is_numbers = std::ranges::all_of(name, [](char byte) { return byte == '.' || is_digit(byte); });
    return is_numbers && std::ranges::count(name, '.') == 3 && take_until(name, ".") == "127";
}

} // namespace

admin_reading read_admin_request(std::string_view bytes) noexcept
{
    constexpr std::string_view head_end = "\r\n\r\n";
    const std::size_t end = bytes.find(head_end);
    if (end == bytes.npos || end + head_end.size() > longest_admin_head) {
        return {bytes.size() > longest_admin_head ? too_large : more_to_come};
    }
    std::string_view head = bytes.substr(0, end);
    const std::string_view first_line = take_until(head, line_end);
    admin_reading read{0};
    read.status = read_request_line(first_line, read.request);
    while (read.status == 0 && !head.empty()) {
        read.status = read_field(take_until(head, line_end), read.request);
    }
    if (read.status == 0 && !first_line.ends_with("/1.0") && read.request.host.data() == nullptr) {
        read.status = bad_request; // RFC 9112, section 3.2
    }
    return read;
}

bool is_foreign(const admin_request &of, bool local) noexcept
{
    // "none" is what somebody typed or chose in the browser itself.
    const bool comes_from_elsewhere = !of.fetch_site.empty() && of.fetch_site != "same-origin" &&
                                      of.fetch_site != "none";
    std::string_view site = of.origin;
    take_until(site, "://");
    const bool is_of_other_site = !of.origin.empty() && (site.empty() || !equal_but_case(site, of.host));
    return comes_from_elsewhere || is_of_other_site || (local && !of.host.empty() && !is_this_machine(of.host));
}

} // namespace flux
