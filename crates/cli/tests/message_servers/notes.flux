// Answers notes in upper case, over connections and over datagrams; a flow may read a second note itself, or have the
// note answered by another server.
use std.tcp;
use std.udp;
use std.upstream;
include "flux/connection.hpp";
include "note.h";
include "udp.h";
include "upstream.h";

option listen : string = "127.0.0.1:0";
option datagrams : string = "127.0.0.1:0";
option upstream : string = "";
option idle_ms : int = 60000;
option message_ms : int = 10000;

typedef more AsksMore;
typedef question IsQuestion;

source Next(idle_ms, message_ms, listen) => Serve;
Next (int idle_ms, int message_ms, flux::endpoint at) => (flux::connection *connection, note message) replicable;

Serve:[_, more] = ReadSecond -> Shout -> tcp.Reply;
Serve:[_, question] = Ask(upstream) -> tcp.Reply;
Serve:[_, _] = Shout -> tcp.Reply;
ReadSecond (flux::connection *connection, note message) => (flux::connection *connection, note message);
Ask (const char *upstream, flux::connection *connection, note message)
  => (flux::connection *connection, flux::message reply);
Shout (flux::connection *connection, note message) => (flux::connection *connection, flux::message reply);

source NextDatagram(datagrams) => Answer;
NextDatagram (flux::endpoint at) => (udp.peer peer, note message) replicable;
Answer = ShoutBack -> udp.SendMessage;
ShoutBack (udp.peer peer, note message) => (udp.peer peer, flux::message reply);
