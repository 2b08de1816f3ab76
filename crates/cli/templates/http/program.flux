// A web server with one page, which counts its visits. README.md says how to run it.
use std.tcp;

option port : int = 8080; // where it listens

// A list of values that several nodes take or give.
using answer = (std::string status, std::string text);

ReadRequest (flux::connection *connection) => (flux::connection *connection, std::string path);
Home () => (answer);
NotFound (std::string path) => (answer);
Send (flux::connection *connection, answer) => ();

// Each connection over which a request comes starts a flow.
source tcp.Listen(port) => Page;

// Send has the connection from ReadRequest: what is between takes and gives only what it uses.
Page = ReadRequest -> Answer -> Send;

// A path of which IsHome says true goes one way, any other the next.
typedef home IsHome;
Answer (std::string path) => (answer);
Answer:[home] = Home;
Answer:[_] = NotFound;

// What is no request is answered by BadRequest, in the place of ReadRequest, and the flow ends.
handle error ReadRequest => BadRequest;

// All flows share the number of visits: while one is in Home, no other is.
atomic Home:{visits};
