// Who messages are exchanged with.
#pragma once

#include "flux/io.hpp"

namespace udp {

/// A peer, as seen from the port that it sent to. Another flow may keep `at`, not `through`: that is the socket of the
/// event loop that the message came to.
struct peer {
    flux::datagram_socket *through;
    flux::address at;
};

} // namespace udp
