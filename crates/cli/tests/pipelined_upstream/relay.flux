// Forwards commands of Redis to a server, those of all clients over few connections.
use std.tcp;
use std.resp;
use std.upstream;

option port : string = "127.0.0.1:0";
option to : string = "127.0.0.1:1";

source tcp.Messages(port, resp.command) => Relay;
Relay (flux::connection *connection, resp.command message) => ();
Relay = upstream.Call(resp.value, to, request: message) -> tcp.Reply;
