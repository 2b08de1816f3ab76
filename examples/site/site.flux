// A web server for the files of a folder.
use std.files;
use std.tcp;
use "http.flux";

option port : int = 8080; // where it listens
option root : path = "public"; // the folder with the files

source tcp.Listen(port) => Page;
Page = http.Read -> files.Load(root) -> http.Send;
handle error files.Load => http.NotFound;
