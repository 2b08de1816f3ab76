// Sums up timings. Of a line such as `db=30 api=12 db=50` it answers, for each name, how often the name is there, the
// mean and the longest time: `api 1 12 12, db 2 40 50`.
use std.tcp;

option listen : string = "7000"; // the port or the address that it listens on

record timing { name : text; ms : uint32; };
record summary { count : uint64; total : uint64; longest : uint32; };

source tcp.Listen(listen) => Request;
Request (flux::connection *connection) => ();
Request = tcp.ReadLine(4k) -> Read -> Summarise -> Write -> tcp.SendLine -> tcp.Return;
handle error Read => Refuse;

Read (text line) => (list<timing> timings) {
  timings = [for word in split(line, " ") if !blank(word) : Parse(word)];
  if length(timings) == 0 { fail 400; }
};

typedef blank (text word) { trim(word) == "" };

Parse (text word) => (timing one) {
  let at = position(word, "=");
  one = timing(name: word[..at], ms: uint32(trim(word[at + 1..])));
};

Summarise (list<timing> timings) => (map<text, summary> summaries) {
  summaries = [];
  for one in timings {
    let before = get(summaries, one.name, summary(count: 0, total: 0, longest: 0));
    summaries[one.name] = summary(count: before.count + 1, total: before.total + one.ms,
        longest: max([before.longest, one.ms]));
  }
};

Write (map<text, summary> summaries) => (text line) {
  line = join([for name, all in summaries : name + " " + Times(all)], ", ");
};

Times (summary all) => (text times) {
  times = text(all.count) + " " + text(all.total / all.count) + " " + text(all.longest);
};

// A line without timings is answered, and the connection goes on.
Refuse (flux::connection *connection, int error) => ();
Refuse = Explain -> tcp.SendLine -> tcp.Return;

Explain (int error) => (text line) {
  if error == 400 { line = "no timings"; } else { line = "write name=milliseconds"; }
};
