// Options of every kind, given to inputs of several types, and as the key of a constraint; a replicable source.
include "options.h";

option port : int = 8080;
option root : path = "public";
option greeting : string = "hello, \"you\"";
option verbose : bool = false;
option idle_time : duration = 30s;
option largest : size = 64k;
option shard : int;

Listen (int port, std::string root) => (int socket) replicable;
Log (unsigned short port, bool verbose, int socket) => (int socket);
Read (long idle_ms, size_t largest, int socket) => (int socket);
Store (int shard, int socket) => (int socket);
Greet (const char *greeting, int socket) => ();

source Listen(port, root) => Answer;
Answer = Log(port, verbose) -> Read(idle_time, largest) -> Store(shard) -> Greet(greeting);
atomic Store:{table(shard)};
