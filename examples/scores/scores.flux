// A scoreboard in SQLite: the lines `ADD name points` and `TOP count`.
use std.tcp;
link "sqlite3";

option listen : string = ":7400";
option database : path = "scores.db";

source tcp.Listen(listen) => Request;
Request = tcp.ReadLine(1k) -> Execute -> tcp.Send -> tcp.Return;
handle error Request => tcp.Close;

Execute (flux::connection *connection, std::string line) => (flux::connection *connection, std::string reply);
typedef add IsAdd;
Execute:[_, add] = Add(database);
Execute:[_, _] = Top(database);
handle error Execute => Explain;

Add (const char *path, flux::connection *connection, std::string line) => (flux::connection *connection, std::string reply) blocking;
Top (const char *path, flux::connection *connection, std::string line) => (flux::connection *connection, std::string reply) blocking;
Explain (flux::connection *connection, std::string line, int error) => (flux::connection *connection, std::string reply);

// One flow at a time uses the database.
atomic Add:{database};
atomic Top:{database};
