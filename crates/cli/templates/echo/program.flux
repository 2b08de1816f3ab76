// A server that sends back the lines that it is sent, each with its number. README.md says how to run it.
use std.tcp;

option port : int = 8080; // where it listens

Count (std::string line) => (std::string line);

// Each line that a client sends starts a flow. When the client has no more, ReadLine ends it and closes the connection.
source tcp.Listen(port) => Echo;

// SendLine has the connection from ReadLine: Count takes and gives only what it uses.
Echo = tcp.ReadLine(4k) -> Count -> tcp.SendLine -> tcp.Return;

// All flows share the number of lines: while one is in Count, no other is.
atomic Count:{lines};
