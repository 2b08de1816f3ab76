// Connections over TCP and Unix sockets.
//
// A flow owns a connection until it gives it back (`Return`) or closes it (`Close`); connections that it still has at
// its end are closed. Under `--flux-runtime=event` a flow that waits for a connection does not block other flows. An
// idle client costs no flow: `Listen` gives a connection only when there is something to read.
//
// A server listens on a port of all IPv6 and IPv4 addresses, `Listen(8080)`, or on one address or Unix socket:
// `Listen("127.0.0.1:8080")`, `Listen("[::1]:8080")`, `Listen("unix:/run/x.sock")`. Port 0 is any free port. The socket
// is opened by the first call of a source for it, and the server logs `flux: listening on [::]:8080`. The file of a
// Unix socket on which no process listens any more is replaced.
//
// The options apply to all listeners. A source can override them for its own listener: `tcp.Listen(8080, idle: 5s)`.
// Several sources may listen on one address; they share its connections. If their settings differ, the server does not
// start.
//
// Errors: EBADF if the connection is a null pointer, or is not owned by the flow; ETIMEDOUT if a wait takes too long;
// ECANCELED if the flow is cancelled. Other errors come from the system: ECONNRESET and EPIPE if the other side has
// closed the connection, ECONNREFUSED if no process listens.

include "flux/connection.hpp";
include "flux/message.hpp";
include "string";
include "tcp.h";

// How long a client may be silent between two requests before its connection is closed. For connections of `Accept`:
// how long each wait for the peer may take. 0 means no limit, here and below.
option idle : duration = 60s;

// How long a client of `Listen` may be silent before its first request; after that its connection is closed.
option first_byte : duration = 10s;

// How long a message may take, from its first byte to its last, while no flow has its connection; after that the
// connection is closed.
option message : duration = 10s;

// How long the flow of a request may take, from the first byte of the request; later waits fail with ETIMEDOUT.
option request : duration = 30s;

// How long `Connect` may take.
option connect : duration = 10s;

// The permissions of a new Unix socket, as digits of chmod(1): `660`. By default only its owner may connect.
option unix_mode : string = "";

// A connection that has something to read, or whose other side has ended it: a new one, or one that a flow has given
// back. If the server cannot listen on the address, it logs that and ends.
Listen (flux::endpoint at, long idle = idle, long first_byte = first_byte, long message = message,
    long request = request, const char *unix_mode = unix_mode) => (flux::connection *connection) replicable;

// Like `Listen`, but gives a new connection at once, and without a time limit for its flow: for protocols in which the
// server speaks first, and for long-lived connections.
Accept (flux::endpoint at, long idle = idle, const char *unix_mode = unix_mode)
  => (flux::connection *connection) replicable;

// The next message of type `M` of any connection, with that connection: `source tcp.Messages(port, memcached.command) =>
// Serve;`. A client that has sent a part of a message costs no flow. Messages that a client sends without waiting for
// replies are given one after the other, each when the flow of the one before has returned the connection (`Reply`,
// `Return`). Bytes that are no message end the connection; they are logged, and counted as a failure with EBADMSG. A
// message that ends too early is counted with ECONNRESET, one that takes too long with ETIMEDOUT.
Messages (flux::endpoint at, type M, long idle = idle, long first_byte = first_byte, long message = message,
    long request = request, const char *unix_mode = unix_mode)
  => (flux::connection *connection, M message) replicable;

// Connects to a server at a numeric address: `127.0.0.1:80`, `[::1]:80` or `unix:/run/x.sock`. The connection of the
// client is passed on. Fails with EADDRNOTAVAIL if the text is not such an address.
Connect (const char *to, flux::connection *client) => (flux::connection *client, flux::connection *server);
Connect = Open(connect);
Open (long limit_ms, const char *to, flux::connection *client) => (flux::connection *client, flux::connection *server);

// The bytes that have arrived, at most `most` of them (and never more than 64k). Empty when the other side has ended.
Read (size_t most, flux::connection *connection) => (flux::connection *connection, std::string bytes);

// The next line, without its line feed and a carriage return before that. The bytes after it stay for the next read.
// Fails with EMSGSIZE if the line is longer than `most` bytes. If the client has ended its side, the error is
// `flux::end_of_input`: the flow ends, but the report does not count that as a failure. If the connection was made by
// the flow, to another server that has ended its side, the error is ENODATA. If the connection ends in the middle of a
// line, the error is ECONNRESET.
ReadLine (size_t most, flux::connection *connection) => (flux::connection *connection, std::string line);

// The next `count` bytes. The errors at the end of the connection are those of `ReadLine`.
ReadExactly (size_t count, flux::connection *connection) => (flux::connection *connection, std::string bytes);

// The next message of type `M`. The bytes after it stay for the next read. Fails with EBADMSG if the bytes are no such
// message, which is logged. The errors at the end of the connection are those of `ReadLine`.
ReadMessage (type M, flux::connection *connection) => (flux::connection *connection, M message);

// Sends all of the bytes.
Send (flux::connection *connection, std::string bytes) => (flux::connection *connection);

// Sends the line and a line feed.
SendLine (flux::connection *connection, std::string line) => (flux::connection *connection);

// Sends a message of any type.
SendMessage (flux::connection *connection, flux::message reply) => (flux::connection *connection);

// Sends a message of any type and gives the connection back, like `Return`. Replies to requests that came together are
// sent together.
Reply (flux::connection *connection, flux::message reply) => ();

// Gives a connection back to its source: `Listen` gives it again when there is more to read. A connection that the
// other side has ended, or that was made by `Connect`, is closed.
Return (flux::connection *connection) => ();

// Closes a connection.
Close (flux::connection *connection) => ();
