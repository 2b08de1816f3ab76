// Tells what there is at a path, a line each, and sends it.
use std.files;
use std.tcp;

option listen : string = "127.0.0.1:0";
option root : path = "public";

source tcp.Listen(listen) => Serve;
Serve = tcp.ReadLine(4096) -> files.Find(root, path: line) -> Tell -> files.Send -> tcp.Return;
Tell (files::file file) => (std::string before);
handle error files.Find => Refuse;
Refuse = Say -> tcp.Send -> tcp.Return;
Say (flux::connection *connection, int error) => (flux::connection *connection, std::string bytes);
