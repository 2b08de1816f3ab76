// Connections over TCP and Unix sockets.
//
// A flow owns a connection until it gives it back (`Return`) or ends it (`Close`); what it still has at its end is closed.
// What it waits for, under `--flux-runtime=event` no other flow waits for. A client that sends nothing costs no flow: `Listen` gives a
// connection when there is something to read.
//
// Where a server listens is a port, of all addresses over IPv6 and IPv4: `Listen(8080)`; or a text, the address of one
// host or a Unix socket: `Listen("127.0.0.1:8080")`, `Listen("[::1]:8080")`, `Listen("unix:/run/x.sock")`. Port 0 is any
// that is free. It is listened on from the first call of a source for it, and the server says so on standard error:
// `flux: listening on [::]:8080`. Several sources may listen at one address, and share its connections. The file of a
// Unix socket where nobody listens any more is replaced.
//
// A node that is given no connection, a null pointer, fails with EBADF, and so does one whose connection is not the
// flow's. What waits fails with ETIMEDOUT when its time is over, and with ECANCELED when the flow is cancelled. Other
// errors are the system's: ECONNRESET and EPIPE where the other side is gone, ECONNREFUSED where nobody listens.

include "flux/connection.hpp";
include "string";

// How long a client may be silent between two requests; then its connection is closed. For connections of `Accept`: how
// long each wait for the peer may be. 0 stands for no limit, here and below.
option idle : duration = 60s;

// How long a client of `Listen` may be silent before its first request; then its connection is closed.
option first_byte : duration = 10s;

// How long the flow of a request has, from its first byte until its end: what it waits for later fails with ETIMEDOUT.
option request : duration = 30s;

// How long `Connect` may take.
option connect : duration = 10s;

// Who may connect to a Unix socket, as the digits of chmod(1): `660`. A new one is its owner's alone where none is given.
option unix_mode : string = "";

// A connection that has something to read, or has come to its end: a new one, or one that a flow has given back. Where
// the address cannot be listened on the server says so and ends.
Listen (flux::endpoint at) => (flux::connection *connection) replicable;
Listen = NextRequest(idle, first_byte, request, unix_mode);
NextRequest (long idle_ms, long first_byte_ms, long request_ms, const char *unix_mode, flux::endpoint at) => (flux::connection *connection) replicable;

// As `Listen`, but a new connection is given at once, and its flow may take as long as it likes: for servers that speak
// first, and for those whose connections are one long exchange.
Accept (flux::endpoint at) => (flux::connection *connection) replicable;
Accept = NextPeer(idle, unix_mode);
NextPeer (long idle_ms, const char *unix_mode, flux::endpoint at) => (flux::connection *connection) replicable;

// A connection to a server at a numeric address, `127.0.0.1:80`, `[::1]:80` or `unix:/run/x.sock`, for a connection of a
// client. EADDRNOTAVAIL where it is none.
Connect (const char *to, flux::connection *client) => (flux::connection *client, flux::connection *server);
Connect = Open(connect);
Open (long limit_ms, const char *to, flux::connection *client) => (flux::connection *client, flux::connection *server);

// What a connection has, at most so many bytes (and never more than 64k); nothing once its other side has ended.
Read (size_t most, flux::connection *connection) => (flux::connection *connection, std::string bytes);

// The next line, without its line feed and a carriage return before that. EMSGSIZE where it is longer than so many
// bytes. What comes after it stays for the next. Where a client has ended its side, `flux::end_of_input`: the flow ends
// there, and that is no failure, in the report neither. Where a server that the flow is connected to has ended its side,
// ENODATA. In the middle of a line, ECONNRESET.
ReadLine (size_t most, flux::connection *connection) => (flux::connection *connection, std::string line);

// The next so many bytes; ends as `ReadLine` does.
ReadExactly (size_t count, flux::connection *connection) => (flux::connection *connection, std::string bytes);

// Sends all of it.
Send (flux::connection *connection, std::string bytes) => (flux::connection *connection);

// Sends all of it, and a line feed.
SendLine (flux::connection *connection, std::string line) => (flux::connection *connection);

// Gives a connection back to the source that gave it: `Listen` gives it again when it has more. One that has come to its
// end, or was made by `Connect`, is closed.
Return (flux::connection *connection) => ();

// Ends a connection.
Close (flux::connection *connection) => ();
