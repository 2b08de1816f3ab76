// Forwards questions, lines, and the answers to them. No message has a stream, so calls can share a connection.
use std.tcp;
use std.upstream;

option port : string = "127.0.0.1:0";
option to : string = "127.0.0.1:1";

type question = unit {
  text : string &until = "\n" &max_size = 100;
  var asks : uint8 &parse = starts_with(self.text, "brief") ? 1 : 0;
};

// A letter says what it is: i, interim; c, the last of its connection; m, the last message; o, another. The answer to a
// brief question has no second line.
type answer = unit (uint8 asked) {
  kind : token("[icmo]");
  text : string &until = "\n" &max_size = 100;
  if (asked != 1) {
    more : string &until = "\n" &max_size = 100;
  }
  var is_interim : bool &parse = self.kind == "i";
  var ends_connection : bool &parse = self.kind == "c";
  var ends_messages : bool &parse = self.kind == "m";
};

source tcp.Messages(port, question) => Relay;
Relay (flux::connection *connection, question message) => ();
Relay = upstream.Call(answer, to, request: message) -> tcp.Reply;
