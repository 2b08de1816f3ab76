// Names and their addresses, for nodes of your own.
#pragma once

#include "flux/connection.hpp"

#include <string>
#include <vector>

namespace dns {

/// The addresses of a name, with this port; at least one. `servers` are asked, or those of the system where it is
/// empty. Throws `std::bad_alloc`.
flux::io_result<std::vector<flux::address>> resolve(const std::string &name, std::uint16_t port, const char *servers,
                                                    flux::moment deadline);

/// A connection to `HOST:PORT`, the host being a name or an address. Throws `std::bad_alloc`.
flux::io_result<flux::connection *> connect(const std::string &to, const char *servers, flux::moment deadline);

} // namespace dns
