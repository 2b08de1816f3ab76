// A program whose sources are written for the compiler of 2006.
Listen () => (int socket);
Parse (int socket) => (int socket, char*path);
Count (int socket, char *path) => (int socket, char *path);
Skip (int socket, char *path) => (int socket, char *path);
Done (int socket, char *path) => ();
Page (int socket) => ();

source Listen {session: User} => Page;
Page = Parse -> Answer -> Done;
typedef counted Count;
Answer:[_, counted] = Count;
Answer:[*, *] = Skip;
handle error Parse => Failed;
atomic Count:{totals(session)};
