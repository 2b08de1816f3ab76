/// \file
/// Takeover: a new process takes the place of a running server, and no peer notices.
///
/// A server with `--flux-takeover=PATH` listens at a Unix socket of that path. The next one that is started with the
/// same path connects there. It is passed that socket itself and all that peers know the server by (SCM_RIGHTS,
/// unix(7)), and adopts them (`io/public_sockets.hpp`). When it has begun to listen at them it says so; only then does
/// the one before accept nobody any more, and end as it does at SIGTERM. The sockets are open all the time, so nobody
/// is refused.
///
/// Until it has said so the new one may fail in any way, and the one before goes on. Where the one before fails, the
/// new one goes on with what it has been passed. Where several are started at once, the first is served, and the others
/// wait at the same socket for that one to have its place. A path at which nobody listens is that of a server
/// that crashed, and taken. Both ask the kernel who the other is (SO_PEERCRED): only the same user takes over.
///
/// What is said, one record after the other (SOCK_SEQPACKET): a `greeting` with the socket of the path; records of a
/// byte with some of the sockets each, until all are passed; and back, a byte: end.
#pragma once

#include "flux/io/public_sockets.hpp"
#include "flux/process/signals.hpp"

#include <optional>
#include <string>
#include <sys/types.h>

namespace flux {

/// Why a server ends: a signal, or where that is 0, a process that has taken its place.
struct end_reason {
    int signal;
    pid_t successor;
};

/// The place of a server, at a path.
class takeover
{
  public:
    /// Has the place from the server that has it now, whose sockets `sockets` adopts, or takes an empty one. Later
    /// another server is passed what is open in `sockets`. Throws `std::runtime_error` where it cannot be had, and
    /// `std::bad_alloc`.
    takeover(std::string path, const end_signals &signals, public_sockets &sockets);

    /// This server has begun: the one before is asked to end.
    void begun() noexcept;

    /// Waits until the process is asked to end, or another server has this one's place.
    end_reason wait() noexcept;

  private:
    bool take_from(descriptor server);
    std::optional<end_reason> hand_over() noexcept;
    bool pass_sockets(const descriptor &to) noexcept;

    const std::string path_;
    const end_signals &signals_;
    public_sockets &sockets_;
    // Listens at the path; until this server has begun, the connection to the one before.
    descriptor place_;
    descriptor before_;
};

} // namespace flux
