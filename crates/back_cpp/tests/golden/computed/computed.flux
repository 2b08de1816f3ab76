// Nodes and predicates with bodies: every statement and every expression.
option limit : int = 10;
option greeting : string = "hello";

record hit { path : text; bytes : uint64; weight : float32; note : optional<text>; how : method; };
enum method { get, put };

Read () => (hit h, uint32 age, text line, list<hit> more, map<text, int16> counts, int socket);
Print (uint64 points, text line, hit best, uint32 count, bool is_get, float64 ratio, int socket) => ();
Refuse (hit h) => ();

Worth (hit h, uint32 age, text line, list<hit> more, map<text, int16> counts, int socket)
  => (uint64 points, text line, hit best, uint32 count, bool is_get, float64 ratio, int socket) {
  points = h.bytes / (age + 1) * 18446744073709551;
  let total = uint64(0);
  best = h;
  count = 0;
  for one in more {
    total = total + one.bytes % 1000;
    if one.bytes > best.bytes && one != best { best = one; count = count + 1; }
  }

  // A path of each kind.
  if total > 1M * 3 && limit > 2 || !starts_with(line, "x") {
    line = line + ", " + text(total) + greeting + text(1.5);
  } else if length(line) == 0 {
    fail 404;
  } else {
    let words = split(trim(line), " ");
    let first = words[0] + line[0..2] + line[1..] + line[..1];
    line = first + "." + join(words + ["last", lower(line), upper("a")], ",");
  }
  let unused = socket - 1;
  is_get = h.how == method.get || contains(line, "get") || counts[line] < int8(socket) || contains(counts, "a");
  if has(best.note) && ends_with(value(best.note), "!") { fail -5; }
  best = hit(path: best.path + "!", bytes: uint64(int64(best.bytes) - 5), weight: -h.weight * 2, note: none,
      how: method.put);
  ratio = float64(best.weight) / 2.5 + float64(count) - 1;
  if position(line, "a") >= length(counts) || age == uint32("7") || ratio < 0 { socket = -socket; }
  let tail = ["z"];
  tail = tail + split(line, ";");
  count = count + uint32(length(tail));
  for word in ["a", "b"] + split(line, ",") { if word == line { line = line + line; } }
};

typedef large (hit h) { h.bytes > 1M };
typedef odd (uint32 n) {
  let half = n / 2;
  if n == 0 { fail 7; }
  half * 2 != n
};

source Read => Page;
Page (hit h, uint32 age, text line, list<hit> more, map<text, int16> counts, int socket) => ();
Page:[large, odd, _, _, _, _] = Worth -> Print;
Page:[_, _, _, _, _, _] = ;
handle error Worth => Apologise;
