// Listing 2 of the FLICK paper, as printed, between clients of memcached and memcached: each message is made anew of its
// fields. The mirror sends it back to its client.

use std.tcp;
use "../../../message/tests/listing_2.flux" as paper;
include "proxy.h";

option mirror : string = "127.0.0.1:0";
option listen : string = "127.0.0.1:0";
option server : string;

source tcp.Messages(mirror, paper.cmd) => Mirror;
Mirror = Again -> tcp.Reply;

Again (flux::connection *connection, paper.cmd message) => (flux::connection *connection, paper.cmd reply) {
  reply = paper.cmd(magic_code: message.magic_code, opcode: message.opcode,
      status_or_v_bucket: message.status_or_v_bucket, opaque: message.opaque, cas: message.cas, extras: message.extras,
      key: message.key, value: message.value);
};

source tcp.Accept(listen) => Proxy;
Proxy = tcp.Connect(server) -> (HandOn & HandBack) -> Close;

using both = (flux::connection *client, flux::connection *server);
HandOn (both) => (both);
HandBack (both) => ();
Close (both) => ();
