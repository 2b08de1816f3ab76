/// \file
/// Addresses of peers on the network: IPv4 and IPv6 with a port, and Unix sockets by their path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>

namespace flux {

/// The address of a socket, as the system has it.
struct address {
    sockaddr_storage storage = {};
    socklen_t size = 0;

    /// For the system's calls.
    const sockaddr *get() const noexcept { return reinterpret_cast<const sockaddr *>(&storage); }
    sockaddr *get() noexcept { return reinterpret_cast<sockaddr *>(&storage); }

    /// The port; 0 where it has none.
    std::uint16_t port() const noexcept;

    /// As people write it: `127.0.0.1:80`, `[::1]:80`, `unix:/run/x`. Throws `std::bad_alloc`.
    std::string text() const;
};

/// All of this machine's own addresses, IPv4 and IPv6, where IPv6 exists.
address any_address(std::uint16_t port) noexcept;

/// The loopback address of IPv4.
address loopback_address(std::uint16_t port) noexcept;

/// The address that is written as numbers, as `text` gives it; nothing where it is none. No name is looked up.
std::optional<address> parse_address(std::string_view text) noexcept;

} // namespace flux
