// A server that sends back the line that it is sent, with the number of the client.
include "string";

Listen () => (int socket);
Read (int socket) => (int socket, std::string line);
Count (int socket, std::string line) => (int socket, std::string line, int client);
Reply (int socket, std::string line, int client) => ();

// Each connection that Listen accepts starts a flow.
source Listen => Echo;

Echo = Read -> Count -> Reply;

// Where no line comes, HangUp takes the place of Read, and the flow ends.
handle error Read => HangUp;

// All flows share the number of clients: while one is in Count, no other is.
atomic Count:{clients};
