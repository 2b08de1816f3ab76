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

/// Where a server is reached, as its program says it: by a number, a port of all this machine's addresses, or by a
/// text, which may be the address of one host (`127.0.0.1:7000`, `[::1]:7000`), a Unix socket (`unix:/run/x.sock`), or
/// a port again (`:7000`, `7000`). A node that takes one takes constants and options of both kinds.
class endpoint
{
  public:
    /// The ports that there are: an option that becomes one is held to them.
    static constexpr std::int64_t least = 0;
    static constexpr std::int64_t most = 65535;

    /// Port 0: any that is free.
    endpoint() noexcept = default;
    endpoint(int port) noexcept : port_(port) {}
    endpoint(std::int64_t port) noexcept : port_(port) {}
    /// The text outlives it.
    endpoint(const char *text) noexcept : text_(text) {}

    /// Its address; nothing where it is none.
    std::optional<address> at() const noexcept;

    /// As the program says it. Throws `std::bad_alloc`.
    std::string text() const;

    /// Whether the program says the same at the same place, which is known without a look at the text.
    friend bool operator==(const endpoint &, const endpoint &) noexcept = default;

  private:
    const char *text_ = nullptr;
    std::int64_t port_ = 0;
};

} // namespace flux
