// A web server with one page, which counts its visits. README.md says how to run it.
include "string";

Listen () => (int socket);
ReadRequest (int socket) => (int socket, std::string path);
Home (int socket, std::string path) => (int socket, std::string status, std::string text);
NotFound (int socket, std::string path) => (int socket, std::string status, std::string text);
Send (int socket, std::string status, std::string text) => ();

// Each connection that Listen accepts starts a flow.
source Listen => Page;

Page = ReadRequest -> Answer -> Send;

// A path of which IsHome says true goes one way, any other the next.
typedef home IsHome;
Answer:[_, home] = Home;
Answer:[_, _] = NotFound;

// What is no request is answered by BadRequest, in the place of ReadRequest, and the flow ends.
handle error ReadRequest => BadRequest;

// All flows share the number of visits: while one is in Home, no other is.
atomic Home:{visits};
