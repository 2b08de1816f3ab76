// A key-value store: the lines `GET key`, `SET key value` and `DEL key`.
use std.tcp;
include "store.h";

option listen : string = ":7070"; // where it listens
option longest_line : size = 64k; // how long a line may be

source tcp.Listen(listen) => Request;
Request = tcp.ReadLine(longest_line) -> Parse -> Execute -> tcp.Send -> tcp.Return;

using request = (command what, int shard);
using answer = (std::string bytes);

Parse (std::string line) => (request);

typedef get IsGet;
Execute:[get, _] = Get;
Execute:[_, _] = Change;

Get (request) => (answer);
Change (request) => (answer);

// Many may read one shard at once; who changes it is alone there.
atomic Get:{entries(shard)?};
atomic Change:{entries(shard)};
