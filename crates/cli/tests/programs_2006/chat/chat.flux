// A server that counts words for its users: what a user has sent is a session's own.
Listen () => (int socket);
GetUser (int socket) => (int socket, int user, string*words);
Count (int socket, int user, string *words) => (int socket, int user, int total);
Reply (int socket, int user, int total) => (int socket);
Close (int socket) => ();
Accept () => (int socket, int user, string *words);

source Accept {session: UserSession} => Request;
Accept = Listen -> GetUser;
Request (int socket, int user, string *words) => ();
Request = Count -> Answer -> Close;

typedef many Count;
Answer (int socket, int user, int total) => (int socket);
Answer:[_, _, many] = Congratulate;
Answer:[_, _, _] = Reply;
Congratulate (int socket, int user, int total) => (int socket);

handle error GetUser => Refuse;

atomic Count:{totals(session)};
atomic Reply:{totals?(session), log};
