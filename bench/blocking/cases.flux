// Code that knows nothing of Flux and blocks, each kind a case, beside flows that ask for no more than an answer.
use std.tcp;
link "curl";
link "hiredis";
link "mariadb";
link "pq";

option listen : string = "127.0.0.1:0"; // where it listens
option peers : path = "peers"; // a file that says where others are

source tcp.Listen(listen) => Request;
Request = tcp.ReadLine(1k) -> Answer -> tcp.Send -> tcp.Return;

Answer (std::string line) => (std::string bytes);
