/// \file
/// The I/O of threads that run one flow at a time, and of sources with a thread of their own: a call that would block
/// does, in `ppoll`, until its deadline passes or all waits are cancelled.
#pragma once

#include "flux/io.hpp"
#include "flux/io/socket.hpp"

namespace flux {

/// For all threads that have no other. It has no state: what its waits are cancelled by is the server's.
io &blocking_io() noexcept;

/// The waits of one server (`server_io.hpp`).
class blocking_waits
{
  public:
    blocking_waits() noexcept;
    blocking_waits(const blocking_waits &) = delete;
    blocking_waits &operator=(const blocking_waits &) = delete;

    /// From now on whoever waits there, or would, fails with ECANCELED: the server ends. It cannot be taken back.
    void cancel() noexcept;

    /// Readable when they are cancelled.
    const descriptor &cancelled() const noexcept { return cancelled_; }

  private:
    const descriptor cancelled_;
};

} // namespace flux
