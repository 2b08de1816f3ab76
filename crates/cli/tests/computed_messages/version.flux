// Answers the requests of memcached's clients for its version, and those for nothing. There is no C++.

use std.tcp;
use std.memcached;

option port : int = 0;

source tcp.Messages(port, memcached.command) => Serve;

typedef version (memcached.command message) { message.opcode == 0x0b };
typedef noop (memcached.command message) { message.opcode == 0x0a };

Serve (flux::connection *connection, memcached.command message) => ();
Serve:[_, version] = Version -> tcp.Reply;
Serve:[_, noop] = Nothing -> tcp.Reply;
Serve:[_, _] = Unknown -> tcp.Reply;

Version (memcached.command message) => (memcached.command reply) {
  reply = memcached.command(magic_code: 0x81, opcode: 0x0b, opaque: message.opaque, value: bytes("1.0"));
};
Nothing (memcached.command message) => (memcached.command reply) {
  reply = memcached.command(magic_code: 0x81, opcode: 0x0a, opaque: message.opaque);
};
Unknown (memcached.command message) => (memcached.command reply) {
  reply = memcached.command(magic_code: 0x81, opcode: message.opcode, status_or_v_bucket: 0x81, opaque: message.opaque,
      value: bytes("Unknown command"));
};
