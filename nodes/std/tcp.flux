// Connections over TCP.
//
// A flow has a connection for itself until it gives it back (`Return`), ends it (`Close`), or hands it on. What it waits
// for, under `--flux-runtime=event` no other flow waits for. A client that sends nothing costs no flow: `Listen` gives a
// connection when there is something to read. One that is silent for a minute between two requests is closed.
//
// A port is listened on from the first call of a source for it, over IPv6 and IPv4; port 0 is any that is free. The server
// says on standard error at which address it listens: `flux: listening on [::]:8080`. Several sources may listen on one
// port, and share its connections.

include "flux/connection.hpp";
include "string";

// A connection to a port that has something to read: a new one, or one that a flow has given back. Where the port cannot
// be listened on the server says so and ends.
Listen (int port) => (flux::connection *connection) replicable;

// As `Listen`, but a new connection is given at once, and once: for servers that speak first.
Accept (int port) => (flux::connection *connection) replicable;

// A connection to a server at a numeric address, `127.0.0.1:80` or `[::1]:80`, for a connection of a client.
Connect (const char *to, flux::connection *client) => (flux::connection *client, flux::connection *server);

// What a connection has, at most so many bytes (and never more than 64k); nothing once its other side has ended.
Read (size_t most, flux::connection *connection) => (flux::connection *connection, std::string bytes);

// Sends all of it.
Send (flux::connection *connection, std::string bytes) => (flux::connection *connection);

// Gives a connection back to the source that gave it: `Listen` gives it again when it has more.
Return (flux::connection *connection) => ();

// Ends a connection.
Close (flux::connection *connection) => ();
