// A game of tag over UDP: players send where they go, and ten times a second all of them hear where all are.
GetMessage () => (struct message *m);
Message (struct message *m) => ();
Join (struct message *m) => (struct message *m);
Move (struct message *m) => (struct message *m);
Leave (struct message *m) => (struct message *m);
DoMessage (struct message *m) => (struct message *m);
Done (struct message *m) => ();

Heartbeat () => (int turn);
Turn (int turn) => ();
Update (int turn) => (int turn, int count, player*everybody[16]);
Broadcast (int turn, int count, player *everybody[16]) => ();

source GetMessage => Message;
source Heartbeat => Turn;

Message = DoMessage -> Done;
Turn = Update -> Broadcast;

typedef join IsJoin;
typedef move IsMove;
DoMessage:[join] = Join;
DoMessage:[move] = Move;
DoMessage:[*] = Leave;

atomic Join:{world};
atomic Move:{world};
atomic Leave:{world};
atomic Turn:{world};
