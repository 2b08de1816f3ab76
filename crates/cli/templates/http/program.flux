// A web server with one page, which counts its visits. README.md says how to run it.
use std.tcp;

option port : int = 8080; // where it listens

// Parameters that several nodes share.
using answer = (std::string status, std::string text);

ReadRequest (flux::connection *connection) => (flux::connection *connection, std::string path);
Home () => (answer);
NotFound (std::string path) => (answer);
Send (flux::connection *connection, answer) => ();

// Each request that arrives on a connection starts a flow.
source tcp.Listen(port) => Page;

// Send takes the connection from ReadRequest: the nodes between need not pass it on.
Page = ReadRequest -> Answer -> Send;

// A path for which IsHome returns true goes to Home, any other tries the next line.
typedef home IsHome;
Answer (std::string path) => (answer);
Answer:[home] = Home;
Answer:[_] = NotFound;

// If the request cannot be read, BadRequest answers in place of ReadRequest, and the flow ends.
handle error ReadRequest => BadRequest;

// All flows share the counter of visits: while one flow is in Home, no other is.
atomic Home:{visits};
