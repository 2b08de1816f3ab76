// Names of the Domain Name System, and connections to servers by name.
//
// They are looked up by the library c-ares, which a server that uses this module is linked with (`libc-ares-dev`), in
// `/etc/hosts` and then with the servers of `/etc/resolv.conf`, whenever they are needed: nothing is kept. c-ares
// waits through the runtime, so under `--flux-runtime=event` no other flow waits.
//
// A name that there is not is ENOENT, one that no server answers for ETIMEDOUT, one that cannot be is EINVAL, and what a
// server refuses or garbles is EPROTO.

link "cares";
include "dns.h";
include "flux/connection.hpp";
include "string";
include "vector";

// The servers to ask instead, with commas between them: `127.0.0.1:5353,[::1]:53`.
option servers : string = "";

// How long a connection may take to be made, its name looked up and all; 0 stands for no limit.
option connect : duration = 10s;

// A connection to a server by its name, `example.org:80` or `localhost:80`, or by its address, for a connection of a
// client. The addresses of a name are tried in turn; the error is that of the last.
Connect (const char *to, flux::connection *client) => (flux::connection *client, flux::connection *server);
Connect = Open(servers, connect);
Open (const char *servers, long limit_ms, const char *to, flux::connection *client) => (flux::connection *client, flux::connection *server);

// The addresses of a name, of IPv6 and IPv4, with port 0. There is at least one.
Resolve (std::string name) => (std::vector<flux::address> addresses);
Resolve = LookUp(servers, connect);
LookUp (const char *servers, long limit_ms, std::string name) => (std::vector<flux::address> addresses);
