// Two plain nodes that call the functions of standard modules from C++, many times, while other flows do the same.
//
// A client that joins gets what is published. The branches of its flow share a connection. Another client's request
// runs `Call` or `CallToo`. Lines are echoed, for the calls of servers.
use std.http;
use std.files;
use std.channels;
use std.compress;
use std.dns;
use std.tcp;
use std.udp;
use std.tls;
use std.upstream;
include "calls.h";

option listen : string = "127.0.0.1:0";
option lines : string = "127.0.0.1:0"; // where lines are echoed
option root : path = ".";

type line = unit { text : string &until = "\n" &max_size = 100; };

state asked (text path) => (uint64 count) at most 100;

source tcp.Messages(lines, line) => Echo;
Echo (flux::connection *connection, line message) => ();
Echo = Repeat -> tcp.Reply;
Repeat (line message) => (line reply) { reply = message; };

source http.Listen(listen) => Serve;
Serve (http.request request, text path) => ();
Serve:[_, joins] = Take -> (channels.Subscribe("news") & channels.Subscribe("more") -> Drop & Leave) -> tcp.Return;
Leave = channels.Unsubscribe("more") -> channels.Subscriptions -> Drop;
Serve:[_, _] = One -> asked.upsert -> files.Find(root, "calls.flux") -> Ask -> http.SendText(200, "text/plain");
Ask (http.request request, files::file file, text path) => (text content);
Ask:[_, _, first] = Call;
Ask:[_, _, _] = CallToo;
handle error Serve => http.Failed;

typedef joins (text path) { path == "/join" };
typedef first (text path) { path == "/first" };

One (text path) => (uint64 count) { count = uint64(length(path)); };
Take (http.request request) => (flux::message reply, flux::connection *connection);
Drop (flux::connection *connection) => ();
Call (http.request request, files::file file, text path) => (text content);
CallToo (http.request request, files::file file, text path) => (text content);
