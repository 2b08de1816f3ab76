// Asks two servers at once for each line, and answers with what both have said until then.
use std.tcp;
use std.upstream;

option listen : string = ":7300"; // where clients come
option first : string = "127.0.0.1:7301"; // the one server that is asked
option second : string = "127.0.0.1:7302"; // the other one
option patience : duration = 300ms; // how long an answer is waited for

source tcp.Listen(listen) => Request;
Request = tcp.ReadLine(64k) -> (Ask(first) within patience & Ask(second) within patience) -> Merge -> tcp.SendLine
  -> tcp.Return;

Ask (const char *upstream, std::string line) => (std::string answer);
Ask = upstream.Borrow -> tcp.SendLine -> tcp.ReadLine(64k) -> upstream.Return;
handle error Ask => Apologise;
Apologise (const char *upstream, std::string line, int error) => (std::string answer);

Merge (std::string one, std::string two) => (std::string line);
