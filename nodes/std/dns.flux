// DNS lookups, and connections to servers by name.
//
// Names are looked up by the library c-ares (`libc-ares-dev`), with which the server is linked: first in `/etc/hosts`,
// then with the servers of `/etc/resolv.conf`. Results are not cached. c-ares waits through the runtime, so under
// `--flux-runtime=event` no other flow waits.
//
// Errors: ENOENT if the name does not exist, ETIMEDOUT if no server answers, EINVAL if the name is malformed, EPROTO if
// a server refuses to answer or its answer is malformed.

link "cares";
include "dns.h";
include "flux/connection.hpp";
include "string";
include "vector";

// The servers to ask instead, separated by commas: `127.0.0.1:5353,[::1]:53`.
option servers : string = "";

// How long connecting may take, including the lookup; 0 means no limit.
option connect : duration = 10s;

// Connects to a server by its name, `example.org:80` or `localhost:80`, or by its address. The connection of the client
// is passed on. The addresses of a name are tried in turn; the error is that of the last.
Connect (const char *to, flux::connection *client) => (flux::connection *client, flux::connection *server);
Connect = Open(servers, connect);
Open (const char *servers, long limit_ms, const char *to, flux::connection *client) => (flux::connection *client, flux::connection *server);

// The addresses of a name, both IPv6 and IPv4, with port 0. The list is never empty.
Resolve (std::string name) => (std::vector<flux::address> addresses);
Resolve = LookUp(servers, connect);
LookUp (const char *servers, long limit_ms, std::string name) => (std::vector<flux::address> addresses);
