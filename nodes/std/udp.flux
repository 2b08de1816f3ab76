// Messages over UDP.
//
// A server listens on a port of all IPv6 and IPv4 addresses, `Listen(7002)`, or on one address:
// `Listen("127.0.0.1:7002")`. Port 0 is any free port. The socket is bound by the first call of a source for it, and
// the server logs `flux: listening on udp [::]:7002`. Answers are sent from the port at which the message arrived. A
// peer belongs to the flow that received it.

include "flux/message.hpp";
include "udp.h";
include "string";

// How long the flow of a message may take; later waits fail with ETIMEDOUT. 0 means no limit.
option request : duration = 30s;

// The next message, and the peer that sent it. If the address cannot be bound, the server logs that and ends.
Listen (flux::endpoint at) => (udp.peer peer, std::string bytes) replicable;
Listen = Next(request);
Next (long request_ms, flux::endpoint at) => (udp.peer peer, std::string bytes) replicable;

// The next datagram that is one message of type `M`, and the peer that sent it. A datagram that is none is dropped; it is
// logged, and counted as a failure with EBADMSG; one that there is no memory to read is counted with ENOMEM.
Messages (flux::endpoint at, type M) => (udp.peer peer, M message) replicable;
Messages = NextMessage(M, request);
NextMessage (type M, long request_ms, flux::endpoint at) => (udp.peer peer, M message) replicable;

// Sends one message. Fails with EBADF if the peer is invalid.
Send (udp.peer peer, std::string bytes) => ();

// Sends a message of any type, as one datagram. Fails with EBADF if the peer is invalid.
SendMessage (udp.peer peer, flux::message reply) => ();
