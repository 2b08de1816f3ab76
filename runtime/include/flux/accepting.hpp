/// \file
/// The end of accepting: a server that ends, or hands its sockets on, first accepts nobody any more, and only then do
/// its sources stop. So whoever has been accepted is served, and whoever comes later waits in the socket for the next
/// server.
///
/// It is told by one descriptor, which all who accept wait for beside their listener. Who is told takes what waits in
/// its listener at that moment, and leaves it then: of all who wait for a listener the kernel wakes one for each new
/// peer, and who was woken for a peer has to take it.
#pragma once

#include "flux/socket.hpp"

#include <cstddef>
#include <utility>

namespace flux {

/// Nobody is accepted any more, in the whole process. It cannot be taken back.
void end_accepting() noexcept;

/// Whether that has been said.
bool accepting_has_ended() noexcept;

/// Readable from then on: a descriptor for who waits, as an instance of epoll takes each but once.
descriptor end_of_accepting() noexcept;

/// Where peers come in. It is open as long as there may be somebody who is not served yet.
class entrance
{
  public:
    entrance() noexcept;
    entrance(const entrance &) = delete;
    entrance &operator=(const entrance &) = delete;
    ~entrance() { close(); }

    /// All have been served, and nobody will be accepted any more.
    void close() noexcept;

    /// Whether any of the process is open.
    static bool any_open() noexcept;

  private:
    bool open_ = true;
};

} // namespace flux
