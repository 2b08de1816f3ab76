// Connections over TCP, as descriptors that block: what a flow waits for, its thread waits for.
//
// A port is listened on from the first call of `Listen` for it, over IPv6 and IPv4; port 0 is any that is free. Several
// sources may listen on one port, and share its connections.

include "string";

// The next connection to a port. Where the port cannot be listened on the server says so and ends.
Listen (int port) => (int socket) blocking;

// What a connection has, at most so many bytes; nothing once its other side has closed it.
Read (size_t most, int socket) => (int socket, std::string bytes) blocking;

// Sends all of it.
Send (int socket, std::string bytes) => (int socket) blocking;

// Ends a connection.
Close (int socket) => ();
