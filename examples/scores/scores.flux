// A scoreboard in SQLite: the lines `ADD name points` and `TOP count`.
use std.tcp;
link "sqlite3";

option listen : string = ":7400";
option database : path = "scores.db";

source tcp.Listen(listen) => Request;
Request = tcp.ReadLine(1k) -> Execute -> tcp.Send -> tcp.Return;
handle error Request => tcp.Close;

typedef add IsAdd;
Execute:[_, add] = Add(database);
Execute:[_, _] = Top(database);
handle error Execute => Explain;

using request = (flux::connection *connection, std::string line);
using answer = (flux::connection *connection, std::string reply);
Add (const char *path, request) => (answer) blocking;
Top (const char *path, request) => (answer) blocking;
Explain (request, int error) => (answer);

atomic Add:{database};
atomic Top:{database};
