// A bank: accounts by number, statements by owner and branch, a basket for each session.
Listen () => (int socket);
Read (int socket) => (int socket, unsigned int from, unsigned int to, const char *owner);
Transfer (int socket, unsigned int from, unsigned int to, const char *owner) => (int socket, const char *owner);
Move (int socket, unsigned int from, unsigned int to, const char *owner) => (int socket, const char *owner);
Note (int socket, const char *owner) => (int socket, const char *owner);
Print (int socket, const char *owner) => (int socket);
Remember (int socket) => ();
Audit () => ();
Ring () => (unsigned caller);
Look (unsigned caller) => ();

source Listen {session: SessionOf} => Bank;
source every 100ms => Audit;
source Ring => Look;

Bank = Read -> Transfer -> Print -> Remember;
Transfer = Move -> Note;

atomic Transfer:{account?(from)};
atomic Move:{account(from), account(to)};
atomic Print:{statement?(owner, socket), printer};
atomic Remember:{basket(session)};
atomic Audit:{printer};
atomic Look:{account?(caller)};
