// Nodes that block, of every shape: a source, with a constraint, and in a handler's place.
Accept () => (int socket) blocking;
Query (int socket) => (int socket, int row) blocking;
Store (int socket, int row) => () blocking;
Answer (int socket, int row) => ();
Cached (int socket) => (int socket, int row) blocking;

source Accept => Serve;
Serve (int socket) => ();
Serve = Query -> (Answer & Store);
handle error Query => Cached;
atomic Query:{table?};
atomic Store:{table};
