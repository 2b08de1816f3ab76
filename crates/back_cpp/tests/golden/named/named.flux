// Values that a later step names: copied where something reads them again, moved where they are read last.
include "named.h";

Read () => (int socket, std::string request);
Ask (std::string request) => (std::string answer);
Join (std::string answer, std::string other) => (std::string both);
Guess (std::string answer) => (std::string both);
Open (std::string request) => (std::unique_ptr<int> backend, int tries[2]);
Count (int tries[2]) => (int count);
Send (int status, int socket, std::unique_ptr<int> backend, std::string both, int count, std::string request) => ();
source Read => Page;
Page (int socket, std::string request) => ();
Page = (Ask(request: request) & Ask) -> Join -> Open(request: request) -> Count
  -> Send(200, socket: socket, backend: backend, both: both, request: request);
handle error Join => Guess;
