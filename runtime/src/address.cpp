#include "flux/address.hpp"

#include <arpa/inet.h>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <limits>
#include <netinet/in.h>
#include <sys/un.h>
#include <system_error>

namespace flux {
namespace {

// `Family` is the type of the system's address of that family.
template <class Family>
Family &as(address &of) noexcept
{
    of.size = sizeof(Family);
    return reinterpret_cast<Family &>(of.storage);
}

template <class Family>
const Family &as(const address &of) noexcept
{
    return reinterpret_cast<const Family &>(of.storage);
}

constexpr std::string_view unix_mark = "unix:";
constexpr std::size_t path_begin = offsetof(sockaddr_un, sun_path);

// The number of a port that is all of the text.
std::optional<std::uint16_t> parse_port(std::string_view text) noexcept
{
    std::uint16_t port = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (problem != std::errc() || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return port;
}

std::optional<address> parse_path(std::string_view path) noexcept
{
    address parsed;
    auto &local = as<sockaddr_un>(parsed);
    if (path.empty() || path.size() >= sizeof local.sun_path) {
        return std::nullopt;
    }
    local.sun_family = AF_UNIX;
    std::memcpy(local.sun_path, path.data(), path.size());
    parsed.size = static_cast<socklen_t>(path_begin + path.size() + 1);
    return parsed;
}

} // namespace

std::uint16_t address::port() const noexcept
{
    switch (storage.ss_family) {
    case AF_INET:
        return ntohs(as<sockaddr_in>(*this).sin_port);
    case AF_INET6:
        return ntohs(as<sockaddr_in6>(*this).sin6_port);
    default:
        return 0;
    }
}

std::string address::text() const
{
    char digits[INET6_ADDRSTRLEN] = "";
    switch (storage.ss_family) {
    case AF_INET:
        inet_ntop(AF_INET, &as<sockaddr_in>(*this).sin_addr, digits, sizeof digits);
        return std::string(digits) + ':' + std::to_string(port());
    case AF_INET6:
        inet_ntop(AF_INET6, &as<sockaddr_in6>(*this).sin6_addr, digits, sizeof digits);
        return '[' + std::string(digits) + "]:" + std::to_string(port());
    case AF_UNIX: {
        // A peer that has not bound its socket has no path.
        const std::size_t longest = size > path_begin ? size - path_begin : 0;
        const char *const path = as<sockaddr_un>(*this).sun_path;
        return std::string(unix_mark) + std::string(path, strnlen(path, longest));
    }
    default:
        return "nowhere";
    }
}

address any_address(std::uint16_t port) noexcept
{
    address any;
    auto &all = as<sockaddr_in6>(any);
    all.sin6_family = AF_INET6;
    all.sin6_port = htons(port);
    all.sin6_addr = in6addr_any;
    return any;
}

address loopback_address(std::uint16_t port) noexcept
{
    address loopback;
    auto &own = as<sockaddr_in>(loopback);
    own.sin_family = AF_INET;
    own.sin_port = htons(port);
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return loopback;
}

std::optional<address> parse_address(std::string_view text) noexcept
{
    if (text.starts_with(unix_mark)) {
        return parse_path(text.substr(unix_mark.size()));
    }
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) {
        return std::nullopt;
    }
    const std::optional<std::uint16_t> port = parse_port(text.substr(colon + 1));
    if (!port) {
        return std::nullopt;
    }
    std::string_view host = text.substr(0, colon);
    const bool brackets = host.size() >= 2 && host.front() == '[' && host.back() == ']';
    if (brackets) {
        host = host.substr(1, host.size() - 2);
    }
    char digits[INET6_ADDRSTRLEN] = "";
    if (host.size() >= sizeof digits) {
        return std::nullopt;
    }
    std::memcpy(digits, host.data(), host.size());
    address parsed;
    if (brackets) {
        auto &six = as<sockaddr_in6>(parsed);
        six.sin6_family = AF_INET6;
        six.sin6_port = htons(*port);
        return inet_pton(AF_INET6, digits, &six.sin6_addr) == 1 ? std::optional(parsed) : std::nullopt;
    }
    auto &four = as<sockaddr_in>(parsed);
    four.sin_family = AF_INET;
    four.sin_port = htons(*port);
    return inet_pton(AF_INET, digits, &four.sin_addr) == 1 ? std::optional(parsed) : std::nullopt;
}

std::optional<address> endpoint::at() const noexcept
{
    if (text_ == nullptr) {
        const bool is_port = port_ >= 0 && port_ <= std::numeric_limits<std::uint16_t>::max();
        return is_port ? std::optional(any_address(static_cast<std::uint16_t>(port_))) : std::nullopt;
    }
    std::string_view port = text_;
    port.remove_prefix(port.starts_with(':') ? 1 : 0);
    const std::optional<std::uint16_t> number = parse_port(port);
    return number ? std::optional(any_address(*number)) : parse_address(text_);
}

std::string endpoint::text() const
{
    return text_ == nullptr ? "port " + std::to_string(port_) : text_;
}

} // namespace flux
