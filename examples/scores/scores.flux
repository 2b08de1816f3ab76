// A scoreboard in SQLite: the lines `ADD name points` and `TOP count`.
use std.tcp;
link "sqlite3";

option listen : string = ":7400"; // where it listens
option database : path = "scores.db"; // the file of the scores

source tcp.Listen(listen) => Request;
Request = tcp.ReadLine(1k) -> Execute -> tcp.Send -> tcp.Return;

typedef add IsAdd;
Execute:[add] = Add;
Execute:[_] = Top;
handle error Execute => Explain;

Add (std::string line) => (std::string bytes) blocking;
Top (std::string line) => (std::string bytes) blocking;
Explain (std::string line, int error) => (std::string bytes);

atomic Add:{database};
atomic Top:{database};
