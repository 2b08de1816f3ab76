// Connections to other servers, which are used again: a flow borrows one and gives it back.
//
// A server is named as in `std.dns`: `example.org:80`, `127.0.0.1:80`, `[::1]:80` or `unix:/run/x.sock`. There are at most
// so many connections to one server (`--upstream-most`); when all are borrowed, flows wait, first come first served, and
// hold up no other flow meanwhile. The one that was given back last is borrowed first. One that the other side has ended,
// or over which something has come that nobody asked for, is closed and not given to anybody.
//
// Under `--flux-runtime=event` all this is for each event loop by itself, as a connection stays on the loop that it was
// made on: four loops have four times as many connections. Under the others it is for the whole server.
//
// A connection that its flow neither gives back nor closes is closed at the flow's end, as any other is. However a flow
// ends, others have its place then.

use std.dns;
include "flux/connection.hpp";
include "string";
include "upstream.h";

// How many connections to one server there are at most, borrowed or not: 1 or more.
option most : int = 64;

// How many of them are kept at most that nobody uses.
option most_idle : int = 64;

// For how long one is kept that nobody uses; 0 stands for no limit, here and below.
option idle : duration = 30s;

// How long a new connection may take to be made, its name looked up and all.
option connect : duration = 10s;

// How long a flow waits for one to be free.
option wait : duration = 10s;

// A connection to the server, for a request. Fails with EBUSY where none was free in time, and with ETIMEDOUT where the
// time for a new one, or the flow's own, was over. Else with what `dns.Connect` fails with.
Borrow (const char *to, std::string bytes) => (flux::connection *connection, std::string bytes);
Borrow = Take(most, most_idle, idle, connect, wait, dns.servers);
Take (upstream::count<1> most, upstream::count<0> most_idle, long idle_ms, long connect_ms, long wait_ms, const char *servers, const char *to, std::string bytes)
  => (flux::connection *connection, std::string bytes);

// Gives it back, when all of the answer has been read: others can have it at once. EBADF where it is not the flow's.
Return (flux::connection *connection, std::string bytes) => (std::string bytes);

// One on each event loop, or one in all, closes what has been idle for too long. It starts no flow.
source Keep => Kept;
Keep () => () replicable;
Kept () => ();
Kept = ;
