/// \file
/// The sockets that peers connect to, and those that the server was given when it started. They can be handed on as
/// long as they are open, so a restart loses no peer: peers that connect while no process accepts wait in the socket
/// for the next one.
///
/// Adopted sockets come from the service manager (`process/adoption.hpp`), or from the previous server
/// (`process/takeover.hpp`). They wait here until something is opened at their address; it gets the adopted socket
/// instead of a new one.
///
/// An address matches a socket with the same family, host and port. An address that stands for all hosts (`[::]:80`)
/// also matches a socket for fewer of them (`0.0.0.0:80`, `127.0.0.1:80`) with the same port; of several the widest is
/// taken first. Port 0 means any free port, so it matches no adopted socket.
#pragma once

#include "flux/address.hpp"
#include "flux/io/socket.hpp"

#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace flux {

/// Who has opened a socket.
enum class socket_origin : unsigned char { service_manager, server_before };

/// Those of one server. Any thread calls it. It lives as long as any of its sockets.
class public_sockets
{
  public:
    public_sockets() noexcept = default;
    public_sockets(const public_sockets &) = delete;
    public_sockets &operator=(const public_sockets &) = delete;

    /// The socket waits for who asks for its address; `name` says which it is, where it has a name. Throws
    /// `std::invalid_argument` where it is none that a server can be reached at, and `std::bad_alloc`.
    void adopt(descriptor given, socket_origin from, const std::string &name);

    /// The adopted socket of this kind at this address; nothing where there is none. Where all for messages there are
    /// in use, it is one of these once more, as each loop has its own.
    std::optional<descriptor> take_adopted(const address &at, socket_kind kind) noexcept;

    /// Whether all that were adopted have been taken.
    bool all_adopted_are_taken() noexcept;

    /// Names those on standard error that nobody has asked for. Those of the server before are closed: nobody will
    /// accept from them.
    void settle_adopted() noexcept;

    /// Whether any socket is open.
    bool any_open() noexcept;

    /// Whether a socket for messages that is open is bound to just this address.
    bool is_bound(const address &at) noexcept;

    /// All open sockets once more, for who takes this server over. Throws `std::system_error` where there are no
    /// descriptors, and `std::bad_alloc`.
    std::vector<descriptor> copy_open();

    /// Of two loops that bind the same address at once one has to be the first. It holds this meanwhile.
    std::mutex binding;

  private:
    friend class public_socket;

    /// A socket that nobody has asked for yet.
    struct waiting_socket {
        descriptor socket;
        address at;
        socket_origin from;
        /// Its address too.
        std::string name;
    };

    /// The number of a socket that is in use.
    struct open_socket {
        int number;
        bool adopted;
    };

    std::optional<descriptor> take_waiting(const address &at, socket_kind kind);
    std::optional<descriptor> share_adopted(const address &at) const;

    std::mutex lock_;
    std::vector<waiting_socket> waiting_;
    std::vector<open_socket> open_;
};

} // namespace flux
