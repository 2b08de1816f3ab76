// Answers each request of 64 bytes by 1 KiB, the first of which name the thread that answers.
use std.tcp;
include "flux/connection.hpp";
include "string";

option port : int = 7002;

source tcp.Listen(port) => Serve;
Serve = tcp.Read(64) -> Answer -> tcp.Send -> tcp.Return;
handle error Serve => tcp.Close;
Answer (flux::connection *connection, std::string bytes) => (flux::connection *connection, std::string bytes);
