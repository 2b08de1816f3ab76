// What the processes of FLICK run on: instances, their channels, and what is sent there. Programs in `.flick` use it by
// themselves; nothing here is meant for others.
//
// A process is written as `Proxy(client, [backends?]): client > backends, backends > client`: its channels, those in
// brackets arrays, `[backends]{16}` one of at most so many, and which channel sends to which. Messages to those with a `?`
// say how many replies they have, behind a `!` these come in the order of the requests, behind a `|` one may be a mark, and
// behind a `~` they come in streams, or no rule reads them. What a channel is bound to says a text, or else a file of bindings:
//
// - `11211`, `127.0.0.1:11211` or `unix:/run/x.sock`, of a channel that is in no array: clients connect there, and each of
//   them makes an instance of the process;
// - `a:11211, b:11211`, of an array: each instance has a connection of its own to each of them, made when something is
//   first sent there; the hosts are names or addresses;
// - `connect:a:11211` of a channel that is in no array, or that nothing comes out of: the same, of one connection;
// - `7000*8` of an array that is merged: eight clients connect there, and make an instance together.
//
// Behind a semicolon each stands how many connections there may be, which are kept or shared, and when a server is left
// out (`docs/flick.md`).
//
// Rules for what goes wrong stand behind that: `…, backends > client; broken backends, malformed client`.
//
// The output of a channel ends when all those have ended that send to it. Where a connection ends that an instance has
// made, or any breaks, the instance ends.

use std.dns;
use std.tcp;
include "flux/connection.hpp";
include "flux/message.hpp";
include "flick.h";

// How long connecting may take, and waiting for a connection where there are as many as may be.
option connect : duration = 10s;

// A file that says what channels are bound to whose options do not, a line each, `servers = a:8001, b:8002; keep 32`.
option bindings : path = "";

// A message, and where it goes: the number of a channel of the process, and which it is of an array; how many replies it
// has, less than none where that cannot be told; whether it may be sent twice, and whether its replies come in its order.
record sending {
  channel : uint64;
  element : uint64;
  what : flux::message;
  replies : int64;
  may_repeat : bool;
  in_order : bool;
};

// The next message of a channel of any instance, with its connection.
Messages (const char *process, size_t channel, const char *binding, type M)
  => (flux::connection *connection, flick::instance self, M message) replicable;
Messages = NextMessage(M, bindings, tcp.idle, tcp.first_byte, tcp.message, tcp.request, tcp.unix_mode);
NextMessage (type M, const char *bindings, long idle_ms, long first_byte_ms, long message_ms, long request_ms,
    const char *unix_mode, const char *process, size_t channel, const char *binding)
  => (flux::connection *connection, flick::instance self, M message) replicable;

// What has come on a channel of any instance, or its end, where the bytes themselves are sent on.
Bytes (const char *process, size_t channel, const char *binding)
  => (flux::connection *connection, flick::instance self) replicable;
Bytes = NextBytes(bindings, tcp.idle, tcp.first_byte, tcp.message, tcp.request, tcp.unix_mode);
NextBytes (const char *bindings, long idle_ms, long first_byte_ms, long message_ms, long request_ms,
    const char *unix_mode, const char *process, size_t channel, const char *binding)
  => (flux::connection *connection, flick::instance self) replicable;

// The next messages of a channel of any instance that go on as they are: the first of those that have come together.
Batches (const char *process, size_t channel, const char *binding, type M)
  => (flux::connection *connection, flick::instance self, M message) replicable;
Batches = NextBatch(M, bindings, tcp.idle, tcp.first_byte, tcp.message, tcp.request, tcp.unix_mode);
NextBatch (type M, const char *bindings, long idle_ms, long first_byte_ms, long message_ms, long request_ms,
    const char *unix_mode, const char *process, size_t channel, const char *binding)
  => (flux::connection *connection, flick::instance self, M message) replicable;

// What goes wrong with a channel of any run and has a rule: `what` is the number of the event. The run waits for that rule.
Faults (const char *process, size_t channel, size_t what, const char *binding)
  => (flick::instance self, flick::trouble wrong, text message) replicable;
Faults = NextFault(tcp.request);
NextFault (long request_ms, const char *process, size_t channel, size_t what, const char *binding)
  => (flick::instance self, flick::trouble wrong, text message) replicable;

// How many connections a channel has, or may have.
Count (size_t channel, const char *binding, flick::instance self) => (int64 count) silent;

// The indexes of these.
All (size_t channel, const char *binding, flick::instance self) => (list<uint64> all) silent;

// The address at the other end of a channel: where it connects to, as its binding has it, and else that of its client,
// which is empty where there is none.
Peer (size_t channel, const char *binding, flick::instance self) => (text peer) silent;

// An address without its port. That of a Unix socket, `unix:PATH`, has none, and stays as it is.
Host (text peer) => (text host) {
  host = peer;
  let parts = split(peer, ":");
  if length(parts) > 1 && !starts_with(peer,
      "unix:") { host = peer[..length(peer) - length(parts[length(parts) - 1]) - 1]; }
};

// Those of the channels of an array.
Peers (size_t channel, const char *binding, flick::instance self) => (list<text> peers) silent;

// The index of the server that has the fewest requests open, asked and not answered, on this loop, of those that are not
// left out; of several that of the next behind the one that was asked last.
LeastBusy (size_t channel, const char *binding, flick::instance self) => (int64 index) silent;

// Which of some channels, of the servers at these addresses, has the number that is highest for a key (rendezvous hashing:
// D. G. Thaler and C. V. Ravishankar, Using Name-Based Mappings to Increase Hit Rates, IEEE/ACM ToN 6, 1998): where one is
// added, it takes its share of the keys from all others; where one is taken out, its keys alone go elsewhere.
Nearest (list<text> peers, text key) => (int64 index) {
  let highest : int64 = -1;
  let at : int64 = 0;
  index = 0;
  for peer in peers {
    let number = hash(peer + " " + key);
    if number > highest {
      highest = number;
      index = at;
    }
    at = at + 1;
  }
};

// Says what a channel is bound to, to which something may be sent.
Bind (size_t channel, const char *binding, flick::instance self) => () silent;

// The state of an instance at a place, which is `first` at first.
Load (size_t place, type T, flick::instance self, T first) => (T value);
Store (size_t place, type T, flick::instance self, T value) => ();

// That of all.
LoadGlobal (size_t place, type T, flick::instance self, T first) => (T value);
StoreGlobal (size_t place, type T, flick::instance self, T value) => ();

// Sends all of these, one after the other; who is slow to take something is waited for. Then the connection is given
// back, so that its next message comes. What is for a client that has left is dropped.
Deliver (flux::connection *connection, flick::instance self, list<flick.sending> sends) => ();
Deliver = Send(connect, dns.servers);
Send (long connect_ms, const char *servers, flux::connection *connection, flick::instance self,
    list<flick.sending> sends) => ();

// Sends what a rule for what goes wrong has to send, and has the run go on.
Answer (flick::instance self, flick::trouble wrong, list<flick.sending> sends) => ();
Answer = Reply(connect, dns.servers);
Reply (long connect_ms, const char *servers, flick::instance self, flick::trouble wrong, list<flick.sending> sends)
  => ();

// Where that fails the run ends.
GiveUp (flick::trouble wrong) => ();

// A rule that reads from the channel has failed: its rule for that runs, and then the next message comes.
Fail (size_t channel, flux::connection *connection, flick::instance self, int error) => ();

// Sends what has come to the channel `to`, as it is, and gives the connection back. Where the replies of its server are
// counted, message by message. Gives the last of these.
Relay (size_t to, type M, flux::connection *connection, flick::instance self) => (M last);
Relay = Pass(M, connect, dns.servers);
Pass (type M, long connect_ms, const char *servers, size_t to, flux::connection *connection, flick::instance self)
  => (M last);

// The same of whole messages: of this one and those that have come behind it.
RelayBatch (size_t to, type M, flux::connection *connection, flick::instance self, M message) => (M last);
RelayBatch = PassBatch(M, connect, dns.servers);
PassBatch (type M, long connect_ms, const char *servers, size_t to, flux::connection *connection,
    flick::instance self, M message) => (M last);

// A run of a process for so many clients of a channel: those who come one after the other. While one loop gathers them no
// other accepts any, so runs are on all loops, each with its clients (`flux/io/accept_policy.hpp`).
Gather (const char *process, size_t channel, const char *binding) => (flick::instance self) replicable;
Gather = Join(bindings, tcp.idle, tcp.unix_mode);
Join (const char *bindings, long idle_ms, const char *unix_mode, const char *process, size_t channel,
    const char *binding) => (flick::instance self) replicable;

// Has what a process sends to them that does so once: what they send is not read.
Enter (size_t channel, flick::instance self) => ();

// Sends all of these, and then nothing more to any channel: the run ends.
Conclude (flick::instance self, list<flick.sending> sends) => ();
Conclude = Close(connect, dns.servers);
Close (long connect_ms, const char *servers, flick::instance self, list<flick.sending> sends) => ();

// The run ends, as something in it has failed.
Abandon (flick::instance self) => ();

// Waits until each of them has sent something, or has ended what it sends.
Ready (size_t channel, flick::instance self) => ();

// Reads the clients of the channel `from` to their ends, which are sorted, and sends what they have sent, sorted, to the
// channel `to`; of elements of one key one is made. Gives the last of them. Fails with EBADMSG where one is not sorted.
Merge (size_t from, size_t to, long connect_ms, const char *servers, type M, flick::instance self) => (M last);

// The same where one number of each element of one key is all that counts: one is made for each key.
MergeNumbers (size_t from, size_t to, long connect_ms, const char *servers, type M, flick::instance self) => (M last);

// What is done on each loop beside messages: checks of servers, and what is asked again as its connection has ended.
source Watch => Watched;
Watch () => (flick::duty what) replicable;
Watched (flick::duty what) => ();
Watched = Do(connect, dns.servers);
Do (long connect_ms, const char *servers, flick::duty what) => ();
