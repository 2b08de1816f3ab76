// Messages over UDP.
//
// A port is bound by the first call of a source for it, over IPv6 and IPv4; port 0 is any that is free. The server
// says on standard error at which address it listens: `flux: listening on udp [::]:7002`. Answers leave from the port that
// the message came to. A peer belongs to the flow that got it.

include "udp.h";
include "string";

// The next message to a port, and who has sent it. Where the port cannot be bound the server says so and ends.
Listen (int port) => (udp.peer peer, std::string bytes) replicable;

// Sends one message.
Send (udp.peer peer, std::string bytes) => ();
