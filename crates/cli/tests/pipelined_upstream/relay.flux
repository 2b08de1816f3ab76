// Forwards commands of Redis to a server, those of all clients over few connections; GET once more where that fails.
use std.tcp;
use std.resp;
use std.upstream;

option port : string = "127.0.0.1:0";
option to : string = "127.0.0.1:1";

source tcp.Messages(port, resp.command) => Relay;
Relay (flux::connection *connection, resp.command message) => ();
Relay:[_, reads] = upstream.CallIdempotent(resp.value, to, request: message) -> tcp.Reply;
Relay:[_, _] = upstream.Call(resp.value, to, request: message) -> tcp.Reply;
typedef reads (resp.command message) { has(message.name) && value(message.name) == "GET" };
