// A memcached: values in memory for the clients of memcached, which speak its binary protocol.

use std.tcp;
use std.memcached;
include "items.h";

option port : int = 11211;
// How much memory the items may take; beyond that those are forgotten that nobody has used lately.
option memory : size = 64M;
// How large a value may be.
option value_size : size = 1M;

source tcp.Messages(port, memcached.command) => Command;

// Replies are in the order of the requests, and those to requests that came together leave together.
Command (flux::connection *connection, memcached.command request) => ();
Command:[_, foreign] = tcp.Close;
Command:[_, memcached.invalid] = Invalid -> tcp.SendMessage -> tcp.Close;
Command:[_, quit] = tcp.Close;
Command:[_, memcached.quit] = Succeed -> tcp.SendMessage -> tcp.Close;
Command:[_, memcached.statistics] = Statistics -> [Send] -> Succeed -> tcp.Reply;
Command:[_, _] = Serve -> Answer;

typedef foreign (memcached.command request) { request.magic_code != 0x80 };
typedef quit (memcached.command request) { request.opcode == 0x17 };

Answer (flux::connection *connection, memcached.command reply) => ();
Answer:[_, memcached.unwanted] = tcp.Return;
Answer:[_, _] = tcp.Reply;

Send (memcached.command reply, flux::connection *connection) => (flux::connection *connection);
Send = tcp.SendMessage;

// What fails does so with the status of its reply.
Serve (memcached.command request) => (memcached.command reply);
Serve:[of_item] = Shard -> Item;
Serve:[memcached.flush] = Change -> Shards -> [Flush] -> Succeed;
Serve:[memcached.no_operation] = Succeed;
Serve:[memcached.version] = Version;
Serve:[_] = Unknown;
handle error Serve => Refuse;

typedef of_item (memcached.command request) { request.key != "" && !memcached.statistics(request) };

Succeed (memcached.command request) => (memcached.command reply) { reply = memcached.Success(request, 0); };

// The request that has stored an item, and the number of that change.
record item { stored : memcached.command; version : uint64; };

// The items are in shards, of which a key has one. Whoever works on an item holds its shard from the look to the change,
// so in C++ there is no lock.
Shard (memcached.command request) => (uint32 shard, uint64 hash) pure;
Shards () => (list<uint32> shards) pure;
// The number of the next change.
Change () => (uint64 version);
Item (memcached.command request, uint32 shard, uint64 hash) => (memcached.command reply);
atomic Item:{items(shard)};
atomic Flush:{items(shard)};

Item:[memcached.get, _, _] = Look -> Found;
Item:[memcached.touch, _, _] = Touch -> Found;
Item:[memcached.get_and_touch, _, _] = Touch -> Found;
Item:[store, _, _] = Look -> Stored -> Put(memory) -> Done;
Item:[join, _, _] = Look -> Joined -> Put(memory) -> Done;
Item:[count, _, _] = Look -> Counted -> Put(memory) -> Told;
Item:[memcached.remove, _, _] = Look -> Removed -> Forget -> Succeed;
Item:[_, _, _] = Unknown;

typedef store (memcached.command request) { has(request.store) };
typedef count (memcached.command request) { has(request.change) };
typedef join (memcached.command request) { memcached.append(request) || memcached.prepend(request) };

Look (uint32 shard, uint64 hash, memcached.command request) => (optional<item> found);
// Looks for an item, which expires as the request says.
Touch (uint32 shard, uint64 hash, memcached.command request) => (optional<item> found);
// Keeps an item in the place of the one before. It expires when it is told, or else when that one did.
Put (size_t memory, uint32 shard, uint64 hash, memcached.command stored, optional<uint32> expiration)
  => (uint64 version);
Forget (uint32 shard, uint64 hash, memcached.command request) => ();
// Forgets all items of a shard, at once or when it is time.
Flush (uint32 shard, memcached.command request) => ();

// The flags of an item are the first four bytes of the extras with which it came.
Found (memcached.command request, optional<item> found) => (memcached.command reply) {
  if !has(found) { reply = memcached.Failure(request, 0x01); } else {
    let it = value(found);
    let flags = bytes(value(it.stored.store))[..4];
    if memcached.touch(request) {
      reply = memcached.command(magic_code: 0x81, opcode: request.opcode, opaque: request.opaque, cas: it.version,
          response_extras: flags);
    } else if memcached.with_key(request) {
      reply = memcached.command(magic_code: 0x81, opcode: request.opcode, opaque: request.opaque, cas: it.version,
          response_extras: flags, key: request.key, value: it.stored.value);
    } else {
      reply = memcached.command(magic_code: 0x81, opcode: request.opcode, opaque: request.opaque, cas: it.version,
          response_extras: flags, value: it.stored.value);
    }
  }
};

// A request that says which version it is about fails where there is another.
Guard (memcached.command request, optional<item> found) => (bool is_there) {
  is_there = has(found);
  if is_there && request.cas != 0 && request.cas != value(found).version { fail 0x02; }
};

Stored (memcached.command request, optional<item> found)
  => (memcached.command stored, optional<uint32> expiration) {
  let is_there = Guard(request, found);
  if !is_there && (request.cas != 0 || memcached.replace(request)) { fail 0x01; }
  if is_there && request.cas == 0 && memcached.add(request) { fail 0x02; }
  if length(request.value) > value_size { fail 0x03; }
  stored = request;
  expiration = value(request.store).expiration;
};

// An item with another value.
Changed (item before, bytes content) => (memcached.command stored) {
  stored = memcached.command(magic_code: 0x80, opcode: 0x01, key: before.stored.key, value: content,
      store: value(before.stored.store));
};

Joined (memcached.command request, optional<item> found)
  => (memcached.command stored, optional<uint32> expiration) {
  if !Guard(request, found) { fail 0x05; }
  let before = value(found).stored.value;
  let content = before + request.value;
  if memcached.prepend(request) { content = request.value + before; }
  if length(content) > value_size { fail 0x03; }
  stored = Changed(value(found), content);
  expiration = none;
};

// A text with so many spaces behind it that it is no shorter than this.
Filled (text content, uint64 size) => (text filled) pure;

// A number does not get shorter: memcached fills it up with spaces.
Counted (memcached.command request, optional<item> found)
  => (memcached.command stored, optional<uint32> expiration, uint64 number) {
  let by = value(request.change);
  number = by.initial;
  if has(found) && length(value(found).stored.value) == 0 { fail 0x06; }
  if Guard(request, found) {
    let before = text(value(found).stored.value);
    number = Sum(uint64(split(trim(before), " ")[0]), by.amount, memcached.decrement(request));
    stored = Changed(value(found), bytes(Filled(text(number), length(before))));
    expiration = none;
  } else {
    if by.expiration == 0xffffffff { fail 0x01; }
    stored = memcached.command(magic_code: 0x80, opcode: 0x01, key: request.key, value: bytes(text(number)),
        store: memcached.store_extras());
    expiration = by.expiration;
  }
};

// What is added goes around at the end of 64 bits, what is subtracted stops at 0.
Sum (uint64 number, uint64 amount, bool down) => (uint64 sum) {
  let most = uint64(0x7fffffffffffffff) * 2 + 1;
  let room = most - number;
  if down { sum = number - min([number, amount]); } else {
    if amount <= room { sum = number + amount; } else { sum = amount - room - 1; }
  }
};

Removed (memcached.command request, optional<item> found) => () {
  if !Guard(request, found) { fail 0x01; }
};

Done (memcached.command request, uint64 version) => (memcached.command reply) {
  reply = memcached.Success(request, version);
};

Told (memcached.command request, uint64 version, uint64 number) => (memcached.command reply) {
  reply = memcached.command(magic_code: 0x81, opcode: request.opcode, opaque: request.opaque, cas: version,
      value: bytes(memcached.counter(number: number)));
};

Version (memcached.command request) => (memcached.command reply) {
  reply = memcached.command(magic_code: 0x81, opcode: request.opcode, opaque: request.opaque, value: bytes("1.6.0"));
};

Invalid (memcached.command request) => (memcached.command reply) { reply = memcached.Failure(request, 0x04); };

Unknown (memcached.command request) => (memcached.command reply) { reply = memcached.Failure(request, 0x81); };

Refuse (memcached.command request, int error) => (memcached.command reply) {
  let status : uint16 = 0x06; // what is no number fails with a code of the language
  if error > 0 { status = uint16(error); }
  reply = memcached.Failure(request, status);
};

// How much there is: a message for each number.
Statistics (memcached.command request) => (list<memcached.command> replies);
Statistics = Shards -> [Measure] -> Listed(memory);
Measure (uint32 shard) => (uint64 items, uint64 bytes, uint64 evictions);
atomic Measure:{items(shard)?};
Listed (size_t memory, memcached.command request, list<uint64> items, list<uint64> bytes, list<uint64> evictions)
  => (list<memcached.command> replies) {
  let numbers = ["curr_items": sum(items), "bytes": sum(bytes), "evictions": sum(evictions), "limit_maxbytes": memory];
  replies = [for name,
      number in numbers : memcached.command(magic_code: 0x81, opcode: request.opcode, opaque: request.opaque, key: name,
        value: bytes(text(number)))];
};
