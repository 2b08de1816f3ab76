// As much of HTTP/1.0 (RFC 1945) as a browser needs to show a page: one request for a connection.
use std.tcp;
include "flux/connection.hpp";
include "string";

// How long a request may be.
option largest : size = 8k;

// The path that a request asks for.
Read (flux::connection *connection) => (flux::connection *connection, std::string path);
Read = Receive(largest);
Receive (size_t largest, flux::connection *connection) => (flux::connection *connection, std::string path);

// Answers with a content, and ends the connection.
Send (flux::connection *connection, std::string content) => ();
Send = Found -> Finish;
Found (std::string content) => (std::string bytes);

// Answers that there is nothing.
NotFound (flux::connection *connection) => ();
NotFound = Missing -> Finish;
Missing () => (std::string bytes);

Finish (flux::connection *connection, std::string bytes) => ();
Finish = tcp.Send -> tcp.Close;
