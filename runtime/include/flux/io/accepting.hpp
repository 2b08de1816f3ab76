/// \file
/// What all who accept are told together: to look at their listener, and that it is for the last time. They have a bell
/// for it, a descriptor that they wait for beside the listener.
///
/// Of all who wait at a listener the kernel wakes one for each new peer. If that one is held up, by a node that
/// computes for long, nobody else would come. So the watchdog rings as long as a loop is held, and the others take who
/// waits there. The held loop has kept nobody to itself whose flow it could not start: who has asked for something when
/// he is accepted is served before the next is accepted.
///
/// A server that ends, or hands its sockets on, first accepts nobody any more, and only then do its sources stop. So
/// whoever has been accepted is served, and whoever comes later waits in the socket for the next server. Who is told so
/// takes those who wait at that moment, and leaves the listener then: he may have been woken for one of them.
#pragma once

#include "flux/io/socket.hpp"

#include <cstddef>
#include <utility>

namespace flux {

/// Nobody is accepted any more, in the whole process. It cannot be taken back.
void end_accepting() noexcept;

/// Whether that has been said.
bool accepting_has_ended() noexcept;

/// All who accept look at their listeners.
void look_at_listeners() noexcept;

/// The bell: each stroke can be seen by a wait for edges. For each who waits it is a descriptor of its own, as an
/// instance of epoll takes one but once.
descriptor bell_of_listeners() noexcept;

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
