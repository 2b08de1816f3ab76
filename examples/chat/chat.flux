// A chat: who sends `join` is in the room, and what members say goes to all others there. Those behind one network
// address have a room for themselves.
use std.udp;
include "chat.h";

option port : int = 7002; // where it listens

typedef join IsJoin;
typedef leave IsLeave;

source udp.Listen(port) {session: RoomOf} => Message;

Message (message) => ();
Message:[_, join] = Enter;
Message:[_, leave] = Leave;
Message:[_, _] = Say -> Deliver;

using message = (udp.peer peer, std::string bytes);
Enter (message) => ();
Leave (message) => ();
Say (udp.peer peer) => (std::vector<udp.peer> others);
Deliver (udp.peer peer, std::vector<udp.peer> others, std::string bytes) => ();

// Rooms have nothing to do with each other, and in one of them many may speak at once.
atomic Enter:{room(session)};
atomic Leave:{room(session)};
atomic Say:{room?(session)};
