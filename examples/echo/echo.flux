// Sends back what it is sent.
use std.tcp;

option port : int = 7000; // where it listens

source tcp.Listen(port) => Echo;
Echo = tcp.Read(64k) -> tcp.Send -> tcp.Return;
