// Messages over UDP.
//
// Where a server listens is a port, of all addresses over IPv6 and IPv4: `Listen(7002)`; or the address of one host:
// `Listen("127.0.0.1:7002")`. Port 0 is any that is free. It is bound by the first call of a source for it, and the server
// says so on standard error: `flux: listening on udp [::]:7002`. Answers leave from the port that the message came to. A
// peer belongs to the flow that got it.

include "udp.h";
include "string";

// How long the flow of a message has until its end: what it waits for later fails with ETIMEDOUT. 0 stands for no limit.
option request : duration = 30s;

// The next message, and who has sent it. Where the address cannot be bound the server says so and ends.
Listen (flux::endpoint at) => (udp.peer peer, std::string bytes) replicable;
Listen = Next(request);
Next (long request_ms, flux::endpoint at) => (udp.peer peer, std::string bytes) replicable;

// Sends one message. EBADF to a peer that is none.
Send (udp.peer peer, std::string bytes) => ();
