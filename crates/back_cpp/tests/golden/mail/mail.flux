// Mail on its way: values that are C++ objects, fallbacks, a dispatch in a dispatch, readers and writers.
include "mail.h";

Receive () => (std::string address, std::vector<char> text);
Lookup (std::string address, std::vector<char> text) => (std::string host, std::vector<char> text);
LookupInCache (std::string address, std::vector<char> text, int error) => (std::string host, std::vector<char> text);
Guess (std::string address, std::vector<char> text) => (std::string host, std::vector<char> text);
Connect (std::string host, std::vector<char> text) => (int socket, std::vector<char> text);
Split (int socket, std::vector<char> text) => (int socket, std::vector<char> text);
Send (int socket, std::vector<char> text) => (int socket);
Deliver (std::string host, std::vector<char> text) => (int socket);
Route (std::string host, std::vector<char> text) => (int socket);
Postpone (std::string host, std::vector<char> text) => (int socket);
File (const char *folder, std::string host, std::vector<char> text) => (int socket);
Close (int socket) => ();

source Receive => Forward;

Forward = Lookup -> Deliver -> Close;

typedef local IsLocal;
typedef small IsSmall;
typedef large IsLarge;

// A line that matches anything comes last.
Deliver:[local, _] = File("inbox");
Deliver:[_, _] = Route;

// Here nothing matches what is neither small nor large.
Route:[_, small] = Connect -> Send;
Route:[_, large] = Connect -> Split -> Send;

// A fallback for a node, which has one of its own, and one that reads the error.
handle error Lookup => LookupInCache;
handle error LookupInCache => Guess;
handle error Guess => Bounce;

// A fallback for an abstract node is a flow.
Postpone = StoreForLater;
StoreForLater (std::string host, std::vector<char> text) => (int socket);
handle error Route => Postpone;

atomic Lookup:{hosts?};
atomic LookupInCache:{hosts?, cache?};
atomic Guess:{cache, hosts};
atomic Route:{queue?};
atomic Close:{log};
