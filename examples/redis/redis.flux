// A part of Redis: texts in memory, numbers that count, keys that expire, and messages to subscribers.

use std.tcp;
use std.resp;
use std.channels;
include "store.h";
include "commands.h";

option port : int = 6379;
// How long a client may be silent; 0 is no limit.
option timeout : duration = 0ms;

source NextCommand(port) => Serve;

// The next command of any client. A protocol error gets the reply of redis-server, and its connection is closed.
NextCommand (flux::endpoint at, long idle_ms = timeout, long first_byte_ms = timeout, long message_ms = tcp.message,
    long request_ms = tcp.request)
  => (flux::connection *connection, resp.command message) replicable;

Serve (flux::connection *connection, resp.command message) => ();
Serve:[_, typed] = resp.Split -> Command;
Serve:[_, _] = Command;
typedef typed (resp.command message) { has(message.line) };
handle error resp.Split => NotSplit;
NotSplit (flux::connection *connection, int error) => ();
NotSplit:[_, unbalanced] = Unbalanced -> tcp.SendMessage -> tcp.Close;
NotSplit:[_, _] = tcp.Close;
typedef unbalanced (int error) { error == EBADMSG };
Unbalanced () => (resp.failure reply) {
  reply = resp.failure(text: "ERR Protocol error: unbalanced quotes in request");
};

// What is known of a client: the version of the protocol that it speaks, how many channels it has subscribed to, and
// its number.
record client { protocol : int64; channels : uint64; id : int64; };
Client (flux::connection *connection) => (flux::connection *connection, client from);
SetClient (client from, flux::connection *connection) => (flux::connection *connection);

Command (flux::connection *connection, resp.command message) => ();
Command:[_, nothing] = tcp.Return;
Command:[_, _] = Client -> Name -> Reply;
typedef nothing (resp.command message) { !has(message.name) };
// Commands are found by their names, whatever the case of the letters.
enum verb {
  get, set, incr, decr, incrby, decrby, del, exists, mget, mset, expire, pexpire, ttl, pttl, persist,
  ping, echo, publish, subscribe, unsubscribe, select, hello, config, command, quit, http, unknown
};
Called (resp.command message) => (text name) { name = lower(value(message.name)); };
Name (resp.command message) => (verb what) {
  let name = Called(message);
  what = verb.unknown;
  if name == "get" {
    what = verb.get;
  } else if name == "set" {
    what = verb.set;
  } else if name == "incr" {
    what = verb.incr;
  } else if name == "decr" {
    what = verb.decr;
  } else if name == "incrby" {
    what = verb.incrby;
  } else if name == "decrby" {
    what = verb.decrby;
  } else if name == "del" {
    what = verb.del;
  } else if name == "exists" {
    what = verb.exists;
  } else if name == "mget" {
    what = verb.mget;
  } else if name == "mset" {
    what = verb.mset;
  } else if name == "expire" {
    what = verb.expire;
  } else if name == "pexpire" {
    what = verb.pexpire;
  } else if name == "ttl" {
    what = verb.ttl;
  } else if name == "pttl" {
    what = verb.pttl;
  } else if name == "persist" {
    what = verb.persist;
  } else if name == "ping" {
    what = verb.ping;
  } else if name == "echo" {
    what = verb.echo;
  } else if name == "publish" {
    what = verb.publish;
  } else if name == "subscribe" {
    what = verb.subscribe;
  } else if name == "unsubscribe" {
    what = verb.unsubscribe;
  } else if name == "select" {
    what = verb.select;
  } else if name == "hello" {
    what = verb.hello;
  } else if name == "config" {
    what = verb.config;
  } else if name == "command" {
    what = verb.command;
  } else if name == "quit" {
    what = verb.quit;
  } else if name == "post" || name == "host:" {
    what = verb.http;
  }
};

Reply (flux::connection *connection, client from, verb what, resp.command message) => ();
Reply:[_, _, http, _] = tcp.Close; // a web page has made a browser send commands in a request
Reply:[_, _, quit, _] = Okay -> tcp.SendMessage -> tcp.Close;
Reply:[_, listens, other, _] = NotNow -> tcp.Reply;
Reply:[_, listens, ping, few] = Heard -> tcp.Reply;
Reply:[_, _, subscribe, more] = Words -> [Subscribe] -> SetClient -> tcp.Return;
Reply:[_, apart, unsubscribe, alone] = Nowhere -> tcp.Reply;
Reply:[_, _, unsubscribe, alone] = channels.Subscriptions -> Named -> [Unsubscribe] -> SetClient -> tcp.Return;
Reply:[_, _, unsubscribe, _] = Words -> [Unsubscribe] -> SetClient -> tcp.Return;
Reply:[_, _, hello, _] = Asked -> Hello -> SetClient -> Greet -> tcp.Reply;
Reply:[_, _, _, _] = Answer -> tcp.Reply;
typedef subscribe (verb what) { what == verb.subscribe };
typedef unsubscribe (verb what) { what == verb.unsubscribe };
typedef publish (verb what) { what == verb.publish };
typedef http (verb what) { what == verb.http };
typedef quit (verb what) { what == verb.quit };
typedef hello (verb what) { what == verb.hello };
typedef alone (resp.command message) { value(message.count) == 1 };
typedef few (resp.command message) { value(message.count) <= 2 };
typedef more (resp.command message) { value(message.count) > 1 };
typedef get (verb what) { what == verb.get };
typedef set (verb what) { what == verb.set };
typedef incr (verb what) { what == verb.incr };
typedef decr (verb what) { what == verb.decr };
typedef incrby (verb what) { what == verb.incrby };
typedef decrby (verb what) { what == verb.decrby };
typedef del (verb what) { what == verb.del };
typedef exists (verb what) { what == verb.exists };
typedef mget (verb what) { what == verb.mget };
typedef mset (verb what) { what == verb.mset };
typedef expire (verb what) { what == verb.expire };
typedef pexpire (verb what) { what == verb.pexpire };
typedef ttl (verb what) { what == verb.ttl };
typedef pttl (verb what) { what == verb.pttl };
typedef persist (verb what) { what == verb.persist };
typedef ping (verb what) { what == verb.ping };
typedef echo (verb what) { what == verb.echo };
typedef select (verb what) { what == verb.select };
typedef config (verb what) { what == verb.config };
typedef command (verb what) { what == verb.command };

Answer (client from, verb what, resp.command message) => (flux::message reply);
Answer:[_, get, _] = Takes(2, 2) -> Place -> Find -> Found;
Answer:[_, set, _] = Takes(3, 0) -> Place -> Set;
Answer:[_, incr, _] = Takes(2, 2) -> Place -> Change(1) -> Number;
Answer:[_, decr, _] = Takes(2, 2) -> Place -> Change(-1) -> Number;
Answer:[_, incrby, _] = Takes(3, 3) -> Place -> Amount -> Change -> Number;
Answer:[_, decrby, _] = Takes(3, 3) -> Place -> Amount -> Negative -> Change -> Number;
Answer:[_, expire, _] = Takes(3, 3) -> Place -> Now -> Until(1000) -> Expire -> Number;
Answer:[_, pexpire, _] = Takes(3, 3) -> Place -> Now -> Until(1) -> Expire -> Number;
Answer:[_, persist, _] = Takes(2, 2) -> Place -> Persist -> Number;
Answer:[_, ttl, _] = Takes(2, 2) -> Place -> Find -> Now -> Left(1000) -> Number;
Answer:[_, pttl, _] = Takes(2, 2) -> Place -> Find -> Now -> Left(1) -> Number;
Answer:[_, del, _] = Takes(2, 0) -> Keys -> DeleteAll -> Number;
Answer:[_, exists, _] = Takes(2, 0) -> Keys -> CountAll -> Number;
Answer:[_, mget, _] = Takes(2, 0) -> Keys -> FindAll -> Array;
Answer:[_, mset, _] = Takes(3, 0) -> Pairs -> SetAll -> Okay;
Answer:[_, publish, _] = Takes(3, 3) -> Publish -> Number;
Answer:[_, subscribe, _] = Takes(2, 0) -> Okay;
Answer:[_, ping, alone] = Pong;
Answer:[_, ping, _] = Takes(1, 2) -> Echo;
Answer:[_, echo, _] = Takes(2, 2) -> Echo;
Answer:[_, select, _] = Takes(2, 2) -> Select -> Okay;
Answer:[_, config, _] = Takes(2, 0) -> Config;
Answer:[_, command, counts] = Takes(2, 2) -> CountCommands -> Number;
Answer:[_, command, _] = Commands;
Answer:[_, _, _] = Unknown;
handle error Answer => Refuse;

// A command has at least and at most so many words; 0 is no limit.
Takes (int64 least, int64 most, resp.command message) => () {
  let count = value(message.count);
  if count < least || most != 0 && count > most { fail 1; }
};

// What the codes mean with which nodes fail; others are those of `int64(…)`.
Refuse (resp.command message, int error) => (resp.failure reply) {
  let name = Called(message);
  let why = "value is not an integer or out of range";
  if error == 1 { why = "wrong number of arguments for '" + name + "' command"; }
  if error == 2 { why = "syntax error"; }
  if error == 3 { why = "invalid expire time in '" + name + "' command"; }
  if error == 4 { why = "increment or decrement would overflow"; }
  if error == 5 { why = "decrement would overflow"; }
  if error == 6 { why = "DB index is out of range"; }
  reply = resp.failure(text: "ERR " + why);
};

// The items, in C++: texts by keys, in shards. Commands on keys of different shards run side by side; one on several
// keys has all of them for itself. A text is kept as the word in which it came, a part of a command's bytes, and that is
// the reply to a GET: so it is never copied. What was counted is kept as a number, without a word.
record item { content : optional<resp.word>; number : int64; expires : int64; };
Shard (resp.word key) => (uint32 shard) pure;
Find (resp.word key, uint32 shard) => (optional<item> found);
Put (resp.word key, uint32 shard, item made) => ();
Forget (resp.word key, uint32 shard) => ();
// A word that can be kept: its size is written as Redis writes it, and its message has not much beside it.
Kept (resp.word given) => (resp.word content) pure;
atomic Find:{items?, item(shard)?};
atomic Put:{items?, item(shard)};
atomic Forget:{items?, item(shard)};

// Milliseconds since 1970.
Now () => (int64 now);

Place (resp.command message) => (resp.word key, uint32 shard) {
  key = value(message.first);
  shard = Shard(key);
};

Okay () => (resp.okay reply) { reply = resp.okay(text: "OK"); };
Number (int64 number) => (resp.number reply) { reply = resp.number(value: number); };
Null (client from) => (flux::message reply);
Null:[resp3] = Null3;
Null:[_] = Null2;
typedef resp3 (client from) { from.protocol == 3 };
Null2 () => (resp.no_bulk reply) { reply = resp.no_bulk(); };
Null3 () => (resp.null reply) { reply = resp.null(); };

Text (item of) => (resp.word content) {
  if has(of.content) { content = value(of.content); } else { content = resp.word(content: text(of.number)); }
};
Found (client from, optional<item> found) => (flux::message reply);
Found:[_, here] = Content;
Found:[_, _] = Null;
typedef here (optional<item> found) { has(found) };
Content (optional<item> found) => (resp.word reply) { reply = Text(value(found)); };

// The same, as values in others.
Bulk (text content) => (resp.value reply) { reply = resp.value(bulk: resp.blob(content: bytes(content))); };
Element (client from, optional<item> found) => (resp.value reply) {
  if has(found) {
    reply = Bulk(Text(value(found)).content);
  } else if from.protocol == 3 {
    reply = resp.value(null: "_");
  } else {
    reply = resp.value(bulk: resp.blob(size: -1));
  }
};

// A number as Redis takes it: without spaces, a plus or zeros before it.
Integer (resp.word given) => (int64 number) {
  number = int64(given.content);
  if length(given.content) > 1 && (given.content[..1] == "0" || given.content[..2] == "-0") { fail 7; }
};

// SET
Set (client from, resp.command message, resp.word key, uint32 shard) => (flux::message reply);
Set:[_, plain, _, _] = Plain -> Put -> Okay;
Set:[_, _, _, _] = Now -> Wishes -> Store -> Stored;
typedef plain (resp.command message) { value(message.count) == 3 };
Plain (resp.command message)
  => (item made) { made = item(content: Kept(value(message.second)), number: 0, expires: 0); };
record wishes { only_new : bool; only_old : bool; };
Wishes (resp.command message, int64 now) => (item made, wishes how) {
  how = wishes(only_new: false, only_old: false);
  let unit = "";
  let time = value(message.second);
  let is_next = false;
  for word in value(message.others) {
    let wish = lower(word.content);
    if is_next {
      time = word;
      is_next = false;
    } else if wish == "nx" && !how.only_old {
      how = wishes(only_new: true, only_old: false);
    } else if wish == "xx" && !how.only_new {
      how = wishes(only_new: false, only_old: true);
    } else if (wish == "ex" || wish == "px") && (unit == "" || unit == wish) {
      unit = wish;
      is_next = true;
    } else {
      fail 2;
    }
  }
  if is_next { fail 2; }
  let expires : int64 = 0;
  if unit != "" {
    let number = Integer(time);
    if number <= 0 || unit == "ex" && number > 9223372036854775 { fail 3; }
    if unit == "ex" { number = number * 1000; }
    if number > 9223372036854775807 - now { fail 3; }
    expires = now + number;
  }
  made = item(content: Kept(value(message.second)), number: 0, expires: expires);
};
Store (resp.word key, uint32 shard, item made, wishes how) => (bool is_kept);
Store = Find -> Permit -> Keep;
atomic Store:{items?, item(shard)};
Permit (optional<item> found, wishes how) => (bool is_kept) {
  is_kept = !(how.only_new && has(found)) && !(how.only_old && !has(found));
};
typedef yes (bool is_kept) { is_kept };
Keep (resp.word key, uint32 shard, item made, bool is_kept) => (bool is_kept);
Keep:[_, _, _, yes] = Put;
Keep:[_, _, _, _] = ;
Stored (client from, bool is_kept) => (flux::message reply);
Stored:[_, yes] = Okay;
Stored:[_, _] = Null;

// INCR and its like
Amount (resp.command message) => (int64 by) { by = Integer(value(message.second)); };
Negative (int64 by) => (int64 by) {
  if by == -9223372036854775807 - 1 { fail 5; }
  by = -by;
};
Change (int64 by, resp.word key, uint32 shard) => (int64 number);
Change = Find -> Changed -> Put;
atomic Change:{items?, item(shard)};
Changed (int64 by, optional<item> found) => (item made, int64 number) {
  number = 0;
  let expires : int64 = 0;
  if has(found) {
    number = value(found).number;
    if has(value(found).content) { number = Integer(value(value(found).content)); }
    expires = value(found).expires;
  }
  if by > 0 && number > 9223372036854775807 - by || by < 0 && number < -9223372036854775807 - 1 - by { fail 4; }
  number = number + by;
  made = item(content: none, number: number, expires: expires);
};

// EXPIRE and its like
Until (int64 unit_ms, resp.command message, int64 now) => (int64 until) {
  let time = Integer(value(message.second));
  if time > 9223372036854775807 / unit_ms || time < (-9223372036854775807 - 1) / unit_ms { fail 3; }
  if time * unit_ms > 9223372036854775807 - now { fail 3; }
  until = now + time * unit_ms;
};
enum fate { same, changed, gone };
Expire (resp.word key, uint32 shard, int64 now, int64 until) => (int64 number);
Expire = Find -> Expiring -> Settle;
atomic Expire:{items?, item(shard)};
Expiring (optional<item> found, int64 now, int64 until) => (item made, fate what, int64 number) {
  made = item(content: none, number: 0, expires: until);
  what = fate.same;
  number = 0;
  if has(found) {
    made = item(content: value(found).content, number: value(found).number, expires: until);
    number = 1;
    what = fate.changed;
    if until <= now { what = fate.gone; }
  }
};
Persist (resp.word key, uint32 shard) => (int64 number);
Persist = Find -> Persisting -> Settle;
atomic Persist:{items?, item(shard)};
Persisting (optional<item> found) => (item made, fate what, int64 number) {
  made = item(content: none, number: 0, expires: 0);
  what = fate.same;
  number = 0;
  if has(found) && value(found).expires != 0 {
    made = item(content: value(found).content, number: value(found).number, expires: 0);
    number = 1;
    what = fate.changed;
  }
};
typedef changed (fate what) { what == fate.changed };
typedef gone (fate what) { what == fate.gone };
Settle (resp.word key, uint32 shard, item made, fate what, int64 number) => (int64 number);
Settle:[_, _, _, changed, _] = Put;
Settle:[_, _, _, gone, _] = Forget;
Settle:[_, _, _, _, _] = ;
Left (int64 unit_ms, optional<item> found, int64 now) => (int64 number) {
  number = -2;
  if has(found) {
    number = -1;
    if value(found).expires != 0 { number = (value(found).expires - now + unit_ms / 2) / unit_ms; }
  }
};

// Several keys at once
Keys (resp.command message) => (list<resp.word> keys, int64 number) {
  keys = Arguments(message);
  number = 0;
};
Arguments (resp.command message) => (list<resp.word> all) {
  all = [];
  if has(message.first) { all = all + [value(message.first)]; }
  if has(message.second) { all = all + [value(message.second)]; }
  if has(message.others) { all = all + [for word in value(message.others) : word]; }
};
Texts (resp.command message) => (list<text> all) { all = [for word in Arguments(message) : word.content]; };
Counted (optional<item> found, int64 number) => (int64 number) {
  if has(found) { number = number + 1; }
};
DeleteAll (list<resp.word> keys, int64 number) => (int64 number);
DeleteAll = [Delete];
atomic DeleteAll:{items};
Delete (resp.word key, int64 number) => (int64 number);
Delete = Shard -> Find -> Counted -> Forget;
CountAll (list<resp.word> keys, int64 number) => (int64 number);
CountAll = [Count];
atomic CountAll:{items};
Count (resp.word key, int64 number) => (int64 number);
Count = Shard -> Find -> Counted;
FindAll (list<resp.word> keys) => (list<optional<item>> found);
FindAll = [Shard -> Find];
atomic FindAll:{items};
Array (client from, list<optional<item>> found) => (resp.value reply) {
  reply = resp.value(array: resp.values(elements: [for each in found : Element(from, each)]));
};
record pair { key : resp.word; content : resp.word; };
Pairs (resp.command message) => (list<pair> pairs) {
  let all = Arguments(message);
  if length(all) % 2 != 0 { fail 1; }
  pairs = [];
  let key = all[0];
  let is_key = false;
  for word in all {
    is_key = !is_key;
    if is_key { key = word; } else { pairs = pairs + [pair(key: key, content: word)]; }
  }
};
SetAll (list<pair> pairs) => ();
SetAll = [Single -> Put];
atomic SetAll:{items};
Single (pair one) => (resp.word key, uint32 shard, item made) {
  key = one.key;
  shard = Shard(one.key);
  made = item(content: Kept(one.content), number: 0, expires: 0);
};

// Subscribers. To those who speak RESP3 news are pushes, to others arrays: so each channel is two, "2" and "3" before its
// name. In RESP2 who has subscribed does nothing else.
typedef listens (client from) { from.protocol == 2 && from.channels > 0 };
typedef apart (client from) { from.channels == 0 };
typedef other (verb what) { what != verb.subscribe && what != verb.unsubscribe && what != verb.ping };
NotNow (resp.command message) => (resp.failure reply) {
  let name = Called(message);
  let allowed = "only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context";
  reply = resp.failure(text: "ERR Can't execute '" + name + "': " + allowed);
};
Heard (resp.command message) => (resp.value reply) {
  let said = "";
  if has(message.first) { said = value(message.first).content; }
  reply = resp.value(array: resp.values(elements: [Bulk("pong"), Bulk(said)]));
};
Words (resp.command message) => (list<text> words) { words = Texts(message); };
Named (list<text> channels) => (list<text> words) { words = [for channel in channels : channel[1..]]; };
Subscribe (text word, flux::connection *connection, client from) => (flux::connection *connection, client from);
Subscribe = channels.Subscriptions -> Subscribing -> channels.Subscribe;
Subscribing (text word, client from, list<text> channels) => (text channel, resp.value reply, client from) {
  channel = text(from.protocol) + word;
  let count = length(channels);
  if !contains(channels, channel) { count = count + 1; }
  from = client(protocol: from.protocol, channels: count, id: from.id);
  reply = News(from, [Bulk("subscribe"), Bulk(word), resp.value(integer: int64(count))]);
};
Unsubscribe (text word, flux::connection *connection, client from) => (flux::connection *connection, client from);
Unsubscribe = Channel -> channels.Unsubscribe -> channels.Subscriptions -> Unsubscribing -> tcp.SendMessage;
Channel (text word, client from) => (text channel) { channel = text(from.protocol) + word; };
Unsubscribing (text word, client from, list<text> channels) => (resp.value reply, client from) {
  from = client(protocol: from.protocol, channels: length(channels), id: from.id);
  reply = News(from, [Bulk("unsubscribe"), Bulk(word), resp.value(integer: int64(from.channels))]);
};
Nowhere (client from) => (resp.value reply) {
  reply = News(from, [Bulk("unsubscribe"), Element(from, none), resp.value(integer: 0)]);
};
News (client from, list<resp.value> parts) => (resp.value reply) {
  if from.protocol == 3 {
    reply = resp.value(push: resp.values(elements: parts));
  } else {
    reply = resp.value(array: resp.values(elements: parts));
  }
};
Publish (resp.command message) => (int64 number);
Publish = ArrayChannel -> channels.Listeners -> Arrays -> PushChannel -> channels.Listeners -> Pushes -> Announce;
ArrayChannel (resp.command message) => (text channel) { channel = "2" + value(message.first).content; };
PushChannel (resp.command message) => (text channel) { channel = "3" + value(message.first).content; };
Arrays (int64 listeners) => (int64 arrays) { arrays = listeners; };
Pushes (int64 listeners) => (int64 pushes) { pushes = listeners; };
// Nothing is made for nobody.
Announce (resp.command message, int64 arrays, int64 pushes) => (int64 number);
Announce:[_, nobody, nobody] = Unheard;
Announce:[_, _, nobody] = ToArrays -> Received;
Announce:[_, nobody, _] = ToPushes -> Received;
Announce:[_, _, _] = ToArrays -> First -> ToPushes -> Both;
typedef nobody (int64 listeners) { listeners == 0 };
ToArrays (resp.command message) => (int64 receivers);
ToArrays = ArrayChannel -> AsArray -> channels.Publish;
AsArray (resp.command message) => (resp.published content) {
  content = resp.published(form: "*", channel: value(message.first).content, content: value(message.second).content);
};
ToPushes (resp.command message) => (int64 receivers);
ToPushes = PushChannel -> AsPush -> channels.Publish;
AsPush (resp.command message) => (resp.published content) {
  content = resp.published(form: ">", channel: value(message.first).content, content: value(message.second).content);
};
Unheard () => (int64 number) { number = 0; };
Received (int64 receivers) => (int64 number) { number = receivers; };
First (int64 receivers) => (int64 first) { first = receivers; };
Both (int64 first, int64 receivers) => (int64 number) { number = first + receivers; };

// What expired is not found any more; here its memory is given back.
source every 100ms => Sweep;
Sweep = Shards -> [Drop];
Shards () => (list<uint32> shards);
Drop (uint32 shard) => ();
atomic Drop:{items?, item(shard)};

// What needs no items
Echo (resp.command message) => (resp.word reply) { reply = Kept(value(message.first)); };
Pong () => (resp.okay reply) { reply = resp.okay(text: "PONG"); };
Select (resp.command message) => () {
  if Integer(value(message.first)) != 0 { fail 6; }
};

// HELLO. The version is the one that the client asks for; none if that is no integer.
Asked (client from, resp.command message) => (optional<int64> version) {
  version = from.protocol;
  if has(message.first) { version = Integer(value(message.first)); }
};
NoInteger () => (optional<int64> version) { version = none; };
handle error Asked => NoInteger;
// The fault is what the client is told. A HELLO with a fault changes nothing.
Hello (client from, resp.command message, optional<int64> version) => (client from, text fault) {
  if !has(version) {
    fault = "ERR Protocol version is not an integer or out of range";
  } else if value(version) != 2 && value(version) != 3 {
    fault = "NOPROTO unsupported protocol version";
  } else {
    fault = OptionsFault(message);
    if fault == "" { from = client(protocol: value(version), channels: from.channels, id: from.id); }
  }
};
// The options are `AUTH user password` and `SETNAME name`. The only user is `default`, with any password.
OptionsFault (resp.command message) => (text fault) {
  fault = "";
  let option = "";
  let user = "default";
  let wanted : uint64 = 0; // so many words of the option are still to come
  let left = value(message.count) - 1;
  let is_version = true;
  for word in Texts(message) {
    left = left - 1;
    if is_version {
      is_version = false;
    } else if fault == "" && wanted > 0 {
      if option == "auth" && wanted == 2 { user = word; }
      if option == "setname" && !Visible(word) {
        fault = "ERR Client names cannot contain spaces, newlines or special characters.";
      }
      wanted = wanted - 1;
    } else if fault == "" {
      option = lower(word);
      if option == "auth" { wanted = 2; }
      if option == "setname" { wanted = 1; }
      if wanted == 0 || wanted > left {
        fault = OneLine("ERR Syntax error in HELLO option '" + word[..min([length(word), 128])] + "'");
      }
    }
  }
  if fault == "" && user != "default" {
    fault = "WRONGPASS invalid username-password pair or user is disabled.";
  }
};
Visible (text word) => (bool is_visible) {
  is_visible = !(contains(word, " ") || contains(word, "\t") || contains(word, "\r") || contains(word, "\n"));
};
Greet (client from, text fault) => (flux::message reply);
Greet:[_, faultless] = Welcome;
Greet:[_, _] = Complain;
typedef faultless (text fault) { fault == "" };
Complain (text fault) => (resp.failure reply) { reply = resp.failure(text: fault); };
Welcome (client from) => (resp.value reply) {
  let modules = resp.value(array: resp.values(elements: []));
  reply = Table(from,
      [Row("server", Bulk("redis")), Row("version", Bulk("7.0.0")), Row("proto", resp.value(integer: from.protocol)),
        Row("id", resp.value(integer: from.id)), Row("mode", Bulk("standalone")), Row("role", Bulk("master")),
        Row("modules", modules)]);
};
Row (text key, resp.value content) => (resp.pair row) { row = resp.pair(key: Bulk(key), content: content); };
// A map; for those who know no maps a list of keys and values.
Table (client from, list<resp.pair> rows) => (resp.value reply) {
  if from.protocol == 3 {
    reply = resp.value(map: resp.entries(pairs: rows));
  } else {
    let all : list<resp.value> = [];
    for row in rows { all = all + [row.key, row.content]; }
    reply = resp.value(array: resp.values(elements: all));
  }
};
Config (client from, resp.command message) => (resp.value reply) {
  let known = ["appendonly": "no", "save": ""];
  let asked = Texts(message);
  if lower(asked[0]) != "get" { fail 2; }
  reply = Table(from, [for key, content in known if contains(asked, key) : Row(key, Bulk(content))]);
};
typedef counts (resp.command message) { has(message.first) && lower(value(message.first).content) == "count" };
CountCommands () => (int64 number) { number = 25; }; // the verbs
Commands () => (resp.value reply) { reply = resp.value(array: resp.values(elements: [])); };
Unknown (resp.command message) => (resp.failure reply) {
  let rest = "";
  for word in Texts(message) {
    if length(rest) < 128 { rest = rest + "'" + word[..min([length(word), 128 - length(rest)])] + "' "; }
  }
  let called = value(message.name);
  let text = "ERR unknown command '" + called[..min([length(called), 128])] + "', with args beginning with: " + rest;
  reply = resp.failure(text: OneLine(text));
};
OneLine (text said) => (text line) { line = join(split(join(split(said, "\r"), " "), "\n"), " "); };
