/// \file
/// Adoption: a server goes on with sockets that were opened before it, so that a restart loses nothing. Peers that
/// connect while nobody accepts wait in the socket, for whoever accepts next.
///
/// Sockets come from the service manager, in the way of sd_listen_fds(3): they are the descriptors from 3 on,
/// LISTEN_FDS says how many, LISTEN_FDNAMES names them, and LISTEN_PID is the process that they are for. Or they come
/// from the server that was there before (`takeover.hpp`). They wait here until something is opened at their address:
/// that gets the socket then, and no new one.
///
/// An address is that of a socket where its family, host and port are the same. One that stands for all hosts
/// (`[::]:80`) is also that of a socket for fewer of them (`0.0.0.0:80`, `127.0.0.1:80`) with its port; of several the
/// widest is taken first. Port 0 is any that is free, so it is that of no adopted socket.
#pragma once

#include "flux/address.hpp"
#include "flux/io/socket.hpp"

#include <optional>
#include <string>
#include <vector>

namespace flux {

/// Who has opened a socket.
enum class socket_origin : unsigned char { service_manager, server_before };

/// The socket waits for who asks for its address; `name` says which it is, where it has a name. Throws
/// `std::invalid_argument` where it is none that a server can be reached at, and `std::bad_alloc`.
void adopt(descriptor given, socket_origin from, const std::string &name);

/// Adopts what LISTEN_FDS says, and takes that out of the environment. `first` is the first descriptor of them. What is
/// for another process is left alone. Throws `std::invalid_argument` where it is wrong, and `std::bad_alloc`.
void adopt_from_service_manager(int first = 3);

/// The adopted socket of this kind at this address; nothing where there is none. Where all for messages there are in
/// use, it is one of these once more, as each loop has its own.
std::optional<descriptor> take_adopted(const address &at, socket_kind kind) noexcept;

/// Whether all that were adopted have been taken.
bool all_adopted_are_taken() noexcept;

/// Whether peers can reach the server at any socket that is open here.
bool any_public_socket() noexcept;

/// Whether a socket for messages that is open here is bound to just this address.
bool is_bound_here(const address &at) noexcept;

/// Names those on standard error that nobody has asked for. Those of the server before are closed: nobody will accept
/// from them.
void settle_adopted() noexcept;

/// All open sockets that peers know by their address, once more, for who takes this server over. Throws
/// `std::system_error` where there are no descriptors, and `std::bad_alloc`.
std::vector<descriptor> copy_public_sockets();

} // namespace flux
