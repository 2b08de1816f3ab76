// Counts and echoes the bodies of requests while they come; some it refuses without having read them.
use std.tcp;
use std.http_message as http;

option port : string = "127.0.0.1:0";

source tcp.Messages(port, http.request) => Serve;
typedef counts (http.request message) { message.head.target == "/count" };
typedef echoes (http.request message) { message.head.target == "/echo" };
Serve (flux::connection *connection, http.request message) => ();
Serve:[_, counts] = Count -> tcp.Reply;
Serve:[_, echoes] = Echo -> tcp.Return;
Serve:[_, _] = Refuse -> tcp.Reply;
Count (flux::connection *connection, http.request message) => (flux::connection *connection, http.response reply);
Echo (flux::connection *connection, http.request message) => (flux::connection *connection);
Refuse (flux::connection *connection, http.request message) => (flux::connection *connection, http.response reply);
