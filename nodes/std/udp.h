// Who messages are exchanged with; and for each class of messages of the program, the function of the node with a type.
#pragma once

#include "flux/address.hpp"
#include "flux/io.hpp"
#include "flux/message/typed_parse.hpp"

#include <chrono>

namespace udp {

/// A peer, as seen from the port that it sent to. Another flow may keep `at`, not `through`: that is the socket of the
/// event loop that the message came to.
struct peer {
    flux::datagram_socket *through;
    flux::address at;
};

/// The next datagram at this address that is one message: who sent it, and `into` as it is then. A flow has so much
/// time for it; 0 is no limit. Fails with EPERM outside of a source.
int next_message(std::chrono::milliseconds request, const flux::endpoint &at, peer &from, flux::message_parse &into);

/// The node of that name for messages of this class.
template <class Message>
int NextMessage(long request_ms, const flux::endpoint &at, peer &from, Message &message)
{
    flux::typed_parse<Message> parse;
    parse.keep_streams();
    const int error = next_message(std::chrono::milliseconds(request_ms), at, from, parse);
    if (error == 0) {
        message = parse.message();
    }
    return error;
}

} // namespace udp
