// A memcached that keeps values in memory. It speaks the binary protocol: get, set, add, replace, delete, increment and
// decrement, no operation, version, statistics and quit. Values do not expire.

use std.tcp;
use std.memcached;
include "items.h";

option port : int = 11211;

source tcp.Messages(port, memcached.command) => Command;

record item { value : bytes; flags : uint32; };

typedef get (memcached.command message) { message.opcode == 0x00 || message.opcode == 0x0c };
typedef store (memcached.command message) { has(message.store) && message.opcode <= 0x03 };
typedef change (memcached.command message) { has(message.change) && message.opcode <= 0x06 };
typedef remove (memcached.command message) { message.opcode == 0x04 };
typedef quit (memcached.command message) { message.opcode == 0x07 };
typedef simple (memcached.command message) {
  message.opcode == 0x0a || message.opcode == 0x0b || message.opcode == 0x10
};

Command (flux::connection *connection, memcached.command message) => ();
Command:[_, get] = Key -> Find -> Found -> tcp.Reply;
Command:[_, store] = Key -> Store -> tcp.Reply;
Command:[_, change] = Key -> Change -> tcp.Reply;
Command:[_, remove] = Key -> Remove -> tcp.Reply;
Command:[_, quit] = tcp.Close;
Command:[_, simple] = Simple -> tcp.Reply;
Command:[_, _] = Unknown -> tcp.Reply;

Key (memcached.command message) => (text key) { key = message.key; };

// The items, in C++. What reads one and then writes it holds them for so long.
Find (text key) => (optional<item> found);
Put (text key, item made) => ();
Forget (text key) => ();
atomic Find:{items?};
atomic Put:{items};
atomic Forget:{items};

// The flags as bytes, which go before a value.
Flags (uint32 flags) => (bytes extras) pure;
// A number as eight bytes, which the reply to an increment has.
Number (uint64 number) => (bytes value) pure;

Reply (memcached.command message, uint16 status, bytes value) => (memcached.command reply) {
  reply = memcached.command(magic_code: 0x81, opcode: message.opcode, status_or_v_bucket: status,
      opaque: message.opaque, value: value);
};

Found (memcached.command message, optional<item> found) => (memcached.command reply) {
  if has(found) {
    let it = value(found);
    let key = message.key;
    if message.opcode == 0x00 { key = ""; }
    reply = memcached.command(magic_code: 0x81, opcode: message.opcode, opaque: message.opaque,
        response_extras: Flags(it.flags), key: key, value: it.value);
  } else {
    reply = Reply(message, 0x01, bytes("Not found"));
  }
};

// Set, add, replace
Store (memcached.command message, text key) => (memcached.command reply);
Store = Find -> Kept -> Keep;
atomic Store:{items};
Kept (memcached.command message, optional<item> found) => (memcached.command reply, bool is_kept, item made) {
  let status : uint16 = 0;
  if message.opcode == 0x02 && has(found) { status = 0x02; }
  if message.opcode == 0x03 && !has(found) { status = 0x01; }
  is_kept = status == 0;
  made = item(value: message.value, flags: value(message.store).flags);
  reply = Reply(message, status, bytes(""));
};
typedef yes (bool is_kept) { is_kept };
Keep (text key, item made, bool is_kept, memcached.command reply) => (memcached.command reply);
Keep:[_, _, yes, _] = Put;
Keep:[_, _, _, _] = ;

// Increment, decrement
Change (memcached.command message, text key) => (memcached.command reply);
Change = Find -> Changed -> Keep;
atomic Change:{items};
Changed (memcached.command message, optional<item> found) => (memcached.command reply, bool is_kept, item made) {
  let by = value(message.change);
  let number = by.initial;
  let flags : uint32 = 0;
  is_kept = has(found) || by.expiration != 0xffffffff;
  if has(found) {
    flags = value(found).flags;
    number = uint64(trim(text(value(found).value)));
    if message.opcode == 0x05 { number = number + by.amount; } else { number = number - min([number, by.amount]); }
  }
  made = item(value: bytes(text(number)), flags: flags);
  if is_kept { reply = Reply(message, 0, Number(number)); } else { reply = Reply(message, 0x01, bytes("Not found")); }
};

Remove (memcached.command message, text key) => (memcached.command reply);
Remove = Find -> Removed -> Drop;
atomic Remove:{items};
Removed (memcached.command message, optional<item> found) => (memcached.command reply) {
  if has(found) { reply = Reply(message, 0, bytes("")); } else { reply = Reply(message, 0x01, bytes("Not found")); }
};
Drop (text key, memcached.command reply) => (memcached.command reply);
Drop = Forget;

// No operation, version, and the end of statistics, of which there are none.
Simple (memcached.command message) => (memcached.command reply) {
  let version = "";
  if message.opcode == 0x0b { version = "1.6.0"; }
  reply = Reply(message, 0, bytes(version));
};

Unknown (memcached.command message) => (memcached.command reply) {
  reply = Reply(message, 0x81, bytes("Unknown command"));
};
