// Connections to other servers that are used again: a flow borrows one and gives it back.
//
// There are at most so many to one server, `--upstream-most`: under `--flux-runtime=event` on each loop, as a connection
// stays on its loop, else in all. When all are borrowed, flows wait, first come first served. The one that was used last
// is borrowed first; one that the other side has ended, or that has sent what nobody asked for, is not given to anybody
// again. What a flow has neither given back nor closed is closed at its end, and its place is free.

include "flux/connection.hpp";
include "string";
include "upstream.h";

// How many connections to one server there are at most.
option most : int = 64;

// For how long one may be kept that nobody uses; it is looked at when the next is borrowed.
option idle : duration = 30s;

// How long a flow waits until it has one, a new connection's making and all; 0 stands for no limit.
option wait : duration = 10s;

// A connection to a server at a numeric address, `127.0.0.1:80`, for a request to it. EADDRNOTAVAIL where it is no
// address.
Borrow (const char *to, std::string bytes) => (flux::connection *connection, std::string bytes);
Borrow = Take(most, idle, wait);
Take (int most, long idle_ms, long wait_ms, const char *to, std::string bytes) => (flux::connection *connection, std::string bytes);

// Gives it back when the whole answer has been read. EBADF where it is not borrowed.
Return (flux::connection *connection, std::string bytes) => (std::string bytes);
