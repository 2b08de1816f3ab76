#include "flick_binding.h"

#include "flux/cannot_serve.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace flick {

namespace {

// A server that cannot do its work must not look as if it did.
[[noreturn]] void give_up(const std::string &channel, const char *reason)
{
    flux::cannot_serve("the channel `" + channel + "` cannot be bound: " + reason);
}

} // namespace

std::vector<std::string> split(std::string_view text, std::string_view by)
{
    std::vector<std::string> parts;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(by), text.size());
        parts.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + by.size(), text.size()));
    }
    return parts;
}

binding read_binding(const std::string &channel, bool is_array, const char *text)
{
    binding made;
    constexpr std::string_view mark = "connect:";
    std::string_view rest = text;
    const std::size_t star = std::min(rest.find('*'), rest.size());
    const std::string_view count = rest.substr(std::min(star + 1, rest.size()));
    made.connects = (is_array && star == rest.size()) || rest.starts_with(mark);
    if (star != rest.size()) {
        const auto [end, problem] = std::from_chars(count.data(), count.data() + count.size(), made.joined);
        if (problem != std::errc() || end != count.data() + count.size() || made.joined == 0) {
            give_up(channel, "write how many clients there are, `7000*8`");
        }
        rest = rest.substr(0, star);
    }
    rest.remove_prefix(rest.starts_with(mark) ? mark.size() : 0);
    made.addresses = split(rest, ",");
    const bool is_one = !is_array || star != std::string_view(text).size();
    const std::vector<std::string> &all = made.addresses;
    if (all.empty() || std::count(all.begin(), all.end(), "") != 0 || (is_one && all.size() != 1)) {
        give_up(channel, is_array ? "give it addresses, `127.0.0.1:7001,127.0.0.1:7002`"
                                  : "give it one address, `127.0.0.1:7000`");
    }
    return made;
}

void limit(const binding &of, const std::string &channel, std::size_t most)
{
    const std::size_t count = std::max(of.addresses.size(), of.joined);
    if (count > most) {
        const std::string all = std::to_string(count);
        const std::string reason = "the program has at most " + std::to_string(most) + " of it, and there are " + all +
                                   ": bind fewer, or write `{" + all + "}` there";
        give_up(channel, reason.c_str());
    }
}

} // namespace flick
