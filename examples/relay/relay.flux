// Hands on what clients send to another server, and its answers back: both directions at once, each at its own pace.
use std.tcp;

option port : int = 7001; // where it listens
option server : string = "127.0.0.1:7000"; // where each client is connected to

source tcp.Accept(port) => Relay;
Relay = tcp.Connect(server) within 5s -> (Ask & Answer) -> Close;

using both = (flux::connection *client, flux::connection *server);
Ask (both) => (both);
Answer (both) => ();
Close (both) => ();
