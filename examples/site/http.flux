// As much of HTTP/1.0 (RFC 1945) as a browser needs to show a page: one request for a connection.
use std.tcp;
include "string";

// How long a request may be.
option largest : size = 8k;

// The path that a request asks for.
Read (int socket) => (int socket, std::string path);
Read = Receive(largest);
Receive (size_t largest, int socket) => (int socket, std::string path) blocking;
handle error Receive => tcp.Close;

// Answers with a content, and ends the connection.
Send (int socket, std::string content) => ();
Send = Found -> Finish;
Found (int socket, std::string content) => (int socket, std::string bytes);

// Answers that there is nothing.
NotFound (int socket) => ();
NotFound = Missing -> Finish;
Missing (int socket) => (int socket, std::string bytes);

Finish (int socket, std::string bytes) => ();
Finish = tcp.Send -> tcp.Close;
handle error tcp.Send => tcp.Close;
