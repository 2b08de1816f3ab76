// A pool of connections to other servers: a flow borrows a connection and gives it back.
//
// A server is named as in `std.dns`: `example.org:80`, `127.0.0.1:80`, `[::1]:80` or `unix:/run/x.sock`. The number of
// connections to one server is limited (`--upstream-most`); when all are borrowed, flows wait, first come, first
// served, without blocking other flows. The connection that was given back last is borrowed first. A connection that
// the other side has ended, or on which unexpected data has arrived, is closed and not used again.
//
// Under `--flux-runtime=event` each event loop has its own pool, because a connection stays on the loop on which it was
// made: four loops may have four times as many connections. Under the other runtimes there is one pool for the whole
// server.
//
// A connection that its flow neither gives back nor closes is closed at the end of the flow, and another flow can then
// take its place.

use std.dns;
include "flux/connection.hpp";
include "flux/message.hpp";
include "string";
include "upstream.h";

// How many connections to one server there are at most, borrowed or not: 1 or more.
option most : int = 64;

// How many idle connections are kept at most.
option most_idle : int = 64;

// How long an idle connection is kept; 0 means no limit, here and below.
option idle : duration = 30s;

// How long a new connection may take, including the lookup.
option connect : duration = 10s;

// How long a flow waits for a free connection.
option wait : duration = 10s;

// How many requests of `Call` may be under way on one connection: 1 or more.
option pipeline : int = 1;

// A connection to the server, for a request. Fails with EBUSY if none became free in time, with ETIMEDOUT if a new
// connection took too long or the time of the flow is over, and otherwise with the errors of `dns.Connect`.
Borrow (const char *to, std::string bytes) => (flux::connection *connection, std::string bytes);
Borrow = Take(most, most_idle, idle, connect, wait, dns.servers);
Take (upstream::count<1> most, upstream::count<0> most_idle, long idle_ms, long connect_ms, long wait_ms, const char *servers, const char *to, std::string bytes)
  => (flux::connection *connection, std::string bytes);

// Gives the connection back after the whole answer has been read. Fails with EBADF if it is not owned by the flow.
Return (flux::connection *connection, std::string bytes) => (std::string bytes);

// Sends a request to the server and gives the reply, a message of type `M`. It borrows a connection and gives it back
// after the reply; where that fails, the connection is closed. The errors are those of `Borrow`, of sending, and of
// `tcp.ReadMessage`. With `--upstream-pipeline` above 1 requests of several flows go out on one connection, one after the
// other, and each flow reads its reply in the same order. A reply that is late then holds up those behind it; a flow whose
// time is over leaves, and its reply is dropped; if the connection ends, all calls on it fail, with ECONNRESET. A request
// of which nothing was sent by then is sent on another connection. Requests with streams, and those whose replies may have
// any, have a connection to themselves.
//
// Variables of messages pair each reply with its request (`flux/message/exchange.hpp`). `Call` drops at most 32 replies
// with `is_interim` for a request, and fails with EPROTO after more. The pool reuses a connection only if the request has
// one reply, and neither of them says `ends_connection` or `ends_messages`. `Call` sends a request with `may_repeat` as
// `CallIdempotent` does. A request that says that it has no reply fails with EINVAL.
Call (type M, const char *to, flux::message request) => (M reply);
Call = Exchange(M, most, most_idle, idle, connect, wait, pipeline, false, dns.servers);

// As `Call`, for requests that a server may serve twice without harm, as those that only read (RFC 9110, 9.2.2): if the
// connection ends before the reply is whole, the request is sent once more, on another connection. One with streams is
// not.
CallIdempotent (type M, const char *to, flux::message request) => (M reply);
CallIdempotent = Exchange(M, most, most_idle, idle, connect, wait, pipeline, true, dns.servers);

Exchange (type M, upstream::count<1> most, upstream::count<0> most_idle, long idle_ms, long connect_ms, long wait_ms, upstream::count<1> pipeline, bool is_idempotent, const char *servers, const char *to, flux::message request)
  => (M reply);

// Closes connections that have been idle for too long: one instance on each event loop, or one in all. It starts no
// flow.
source Keep => Kept;
Keep () => () replicable;
Kept () => ();
Kept = ;
