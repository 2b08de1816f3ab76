// Counts and echoes the bodies of requests while they come; some it refuses without having read them.
use std.tcp;
use std.http_message as http;

option port : string = "127.0.0.1:0";

source tcp.Messages(port, http.request) => Serve;
typedef counts (http.request message) { message.head.target == "/count" };
typedef tells (http.request message) { message.head.target == "/trailers" };
typedef echoes (http.request message) { message.head.target == "/echo" };
Serve (flux::connection *connection, http.request message) => ();
Serve:[_, counts] = Count -> tcp.Reply;
Serve:[_, tells] = Count -> http.Trailers -> Tell -> tcp.Reply;
Serve:[_, echoes] = Echo -> tcp.Return;
Serve:[_, _] = Refuse -> tcp.Reply;
Count (flux::connection *connection, http.request message) => (flux::connection *connection, http.response reply);
Echo (flux::connection *connection, http.request message) => (flux::connection *connection);
Refuse (flux::connection *connection, http.request message) => (flux::connection *connection, http.response reply);
Tell (flux::connection *connection, http.response reply, list<http.field> trailers)
  => (flux::connection *connection, http.response reply) {
  let said = "";
  for one in trailers {
    said = said + one.name + "=" + one.value + ";";
  }
  reply = http.response(head: http.response_head(minor_version: "1", status: "200", reason: "OK",
        fields: [http.field(name: "Content-Length", value: text(length(said)))]), sized: bytes(said));
};
