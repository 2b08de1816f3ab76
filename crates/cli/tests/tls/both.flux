// What std.http and std.tls speak over TLS: files, echoes, and lines on a port of their own.
use std.files;
use std.http;
use std.tcp;
use std.tls;
include "both.h";

option port : int = 0;
option lines : string = "";
option greets : string = "";
option root : path = ".";

source http.Listen(port) => Serve;
Serve (http.request request, text path) => ();
Serve:[http.post, _] = http.Content -> http.SendText(200, "application/octet-stream");
Serve:[_, broken] = Break;
Serve:[_, _] = files.Find(root) -> http.Send;
handle error files.Find => http.NotFound;
handle error http.Content => http.Failed;
typedef broken (text path) { path == "/broken" };

// An answer whose content fails behind its first bytes.
Break (http.request request) => ();

source tls.Listen(lines) => Line;
Line = tcp.ReadLine(1000) -> tcp.SendLine -> tcp.Return;

// A protocol in which the server speaks first.
source tls.Accept(greets) => Greet;
Greet = Welcome -> tcp.SendLine -> tcp.Close;
Welcome (flux::connection *connection) => (flux::connection *connection, std::string line);
