// What nodes of std.http answer, each at a path of its own.
use std.http;
include "answers.h";

option port : int = 0;

source http.Listen(port) => Serve;
Serve (http.request request, text path) => ();
Serve:[_, text_] = Line -> http.SendText(200, "text/plain");
Serve:[http.post, echo] = http.Content -> http.SendText(200, "application/octet-stream");
Serve:[http.post, trailer] = http.Content -> http.Trailer("digest") -> Ended -> http.SendText(200, "text/plain");
Serve:[http.get, echo] = http.NotAllowed("POST");
Serve:[_, made] = Make -> http.Reply;
Serve:[_, about] = About -> http.SendText(200, "text/plain");
Serve:[_, stream] = Stream(false);
Serve:[_, sized] = Stream(true);
Serve:[_, count] = Count -> http.SendText(200, "text/plain");
Serve:[_, moved] = Elsewhere -> http.Redirect(302);
Serve:[_, teapot] = http.Refuse(429);
Serve:[_, split] = Split -> http.Reply;
Serve:[_, silent] = ;
Serve:[_, broken] = Break;
Serve:[_, unhandled] = Lose;
Serve:[_, lack] = Lack -> Line -> http.SendText(200, "text/plain");
Serve:[_, guarded] = Guarded;
Serve:[_, absent] = Absent -> http.SendText(200, "text/plain");
Serve:[_, fails] = Fail -> http.SendText(200, "text/plain");
Serve:[_, _] = http.Refuse(404);
handle error Break => http.Failed;
handle error http.Content => http.Failed;
handle error Absent => http.Failed;
handle error Fail => Say;
handle error Remembered => Tell;
handle error Clumsy => Clumsier;
handle error Recovered => Line;

// A guard: what comes after it runs only for a client that says the secret. A record that fails stops no flow.
Guarded (http.request request) => ();
Guarded = Record -> http.Field("authorization") -> Check -> Delete -> http.SendText(200, "text/plain");
handle error Record => _;
handle error Check => Deny;
Deny (http.request request) => ();
Deny = http.Refuse(401);
Record () => () { fail 5; };
Check (text value) => () { if value != "secret" { fail 1; } };

typedef text_ (text path) { path == "/text" };
typedef echo (text path) { path == "/echo" };
typedef trailer (text path) { path == "/trailer" };
typedef made (text path) { path == "/made" };
typedef about (text path) { path == "/about" };
typedef stream (text path) { path == "/stream" };
typedef sized (text path) { path == "/sized" };
typedef count (text path) { path == "/count" };
typedef moved (text path) { path == "/moved" };
typedef teapot (text path) { path == "/teapot" };
typedef split (text path) { path == "/split\r\nX: y" };
typedef silent (text path) { path == "/silent" };
typedef broken (text path) { path == "/broken" };
typedef lack (text path) { path == "/lack" };
typedef guarded (text path) { path == "/guarded" };
typedef absent (text path) { starts_with(path, "/absent/") };
typedef fails (text path) { starts_with(path, "/fail/") };
typedef throws (text path) { path == "/fail/throws" };
typedef code (text path) { path == "/fail/code" };
typedef branch (text path) { path == "/fail/branch" };
typedef each (text path) { path == "/fail/each" };
typedef loop (text path) { path == "/fail/loop" };
typedef handler (text path) { path == "/fail/handler" };
typedef long_text (text path) { path == "/fail/long" };
typedef number (text path) { path == "/fail/number" };
typedef blocks (text path) { path == "/fail/blocks" };
typedef predicate (text path) { path == "/fail/predicate" };
typedef throwing IsThrowing;
typedef unhandled (text path) { path == "/unhandled" };

Line () => (text content) { content = "a line\n"; };
Ended (text content, text value) => (text content) { content = content + "; " + value + "\n"; };
Make (text path) => (http.response response) {
  response = http.response(status: 201, fields: [http.field(name: "X-Path", value: path)], content: "made\n");
};
About (http.request request) => (text content);
About = http.Method -> http.Host -> http.Query -> http.Client -> http.Field("x-wanted") -> Join;
Join (text method, text host, text query, text client, text value) => (text content) {
  content = join([method, host, query, client, value], "|") + "\n";
};
Elsewhere () => (text location) { location = "/text"; };
Split (text path) => (http.response response) {
  response = http.response(status: 200, fields: [http.field(name: "X-Path", value: path)], content: "");
};

// What handlers are told of failures.
Absent (text path) => (text content) {
  if path == "/absent/name" { fail http.not_found; }
  if path == "/absent/number" { fail 422; }
  if path == "/absent/errno" { fail ENFILE; }
  fail 700;
};
Fail (text path) => (text content);
Fail:[throws] = Throw;
Fail:[code] = Recovered -> Code;
Fail:[branch] = (Line & Throw) -> Both;
Fail:[each] = Words -> [Item](4) -> Text;
Fail:[loop] = Words -> [Item] -> Text;
Fail:[handler] = Clumsy;
Fail:[long_text] = Long;
Fail:[number] = Number;
Fail:[blocks] = Block;
Fail:[predicate] = Pick;
Fail:[_] = Remembered;
Pick (text path) => (text content);
Pick:[throwing] = Line;
Pick:[_] = Line;
Say (int error, text error_text, text error_node) => (text content) {
  let shown = length(error_text) > 60 ? text(length(error_text)) : error_text;
  let code = error == ENFILE ? "ENFILE" : error == http.gone ? "gone" : "another";
  content = error_node + ": " + code + ": " + shown + "\n";
};
Both (text content, text said) => (text content) { content = content + said; };
Words () => (list<text> words) { words = ["a", "b", "c"]; };
Text (list<text> said) => (text content) { content = join(said, ""); };

// In C++: nodes that throw, but for the one that returns an error; and a handler.
Throw () => (text said);
Recovered () => (text content);
Code () => (text said);
Item (text word) => (text said);
Clumsy () => (text content);
Clumsier () => (text content);
Long () => (text content);
Number () => (text content);
Block () => (text content) blocking;
Remembered () => (text content);
Tell (text error_node, text error_text) => (text content);

// In C++: an answer that is a stream, the size of what was sent, how often this has been called, and failures.
Stream (bool is_sized, http.request request) => ();
Count (http.request request) => (text content);
Delete () => (text content);
Break () => ();
Lose () => ();
// The next two allocations of the bytes of messages fail.
Lack () => ();
