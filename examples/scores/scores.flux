// A scoreboard in SQLite: the lines `ADD name points` and `TOP count`.
use std.tcp;
link "sqlite3";

option listen : string = ":7400";
option database : path = "scores.db";

source tcp.Listen(listen) => Request;
Request = tcp.ReadLine(1k) -> Execute -> tcp.Send -> tcp.Return;

typedef add IsAdd;
Execute:[_, add] = Add;
Execute:[_, _] = Top;
handle error Execute => Explain;

using request = (flux::connection *connection, std::string line);
using answer = (flux::connection *connection, std::string reply);
Add (request) => (answer) blocking;
Top (request) => (answer) blocking;
Explain (request, int error) => (answer);

atomic Add:{database};
atomic Top:{database};
