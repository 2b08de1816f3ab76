// Asks a server, which is known by its name, whatever a client asks.
use std.dns;
use std.tcp;

option listen : string = ":0";
option server : string = "localhost:80";

source tcp.Listen(listen) => Request;
Request = dns.Connect(server) -> Exchange -> tcp.Send -> tcp.Return;
handle error dns.Connect => Say;
handle error Request => tcp.Close;

Exchange (flux::connection *client, flux::connection *server) => (flux::connection *connection, std::string bytes);
Say (const char *to, flux::connection *client, int error) => (flux::connection *client, flux::connection *server);
