// A peer that shares pieces of a file, in messages like those of BitTorrent: the graph of Figure 7, with its timers.
TrackerTimer () => ();
ChokeTimer () => ();
KeepAliveTimer () => ();
Listen () => (client_data *client, bool isnew);
GetClients () => (int maxfd, fd_set *fds);
SelectSockets (int maxfd, fd_set *fds) => (int numready, fd_set *fds);
CheckSockets (int numready, fd_set *fds) => (client_data *client, bool isnew);
SetupConnection (client_data *client, bool isnew) => (client_data *client, bool isnew);
Handshake (client_data *client, bool isnew) => (client_data *client, bool isnew);
SendBitfield (client_data *client, bool isnew) => ();
ReadMessage (client_data *client, bool isnew) => (int type, int length, int msgtype, char*payload, client_data *client);
HandleMessage (int type, int length, int msgtype, char *payload, client_data *client) => (client_data *client);
MessageDone (client_data *client) => ();
CloseConnection (client_data *client, bool isnew) => ();
Ignore (int type, int length, int msgtype, char *payload, client_data *client) => (client_data *client);
Bitfield (int type, int length, int msgtype, char *payload, client_data *client) => (client_data *client);
Have (int type, int length, int msgtype, char *payload, client_data *client) => (client_data *client);
Piece (int type, int length, int msgtype, char *payload, client_data *client)
    => (client_data *client, int piece, bool isdone);
CompletePiece (client_data *client, int piece, bool isdone) => (client_data *client, int piece);
VerifyPiece (client_data *client, int piece, bool isdone) => (client_data *client, int piece);
Partial (client_data *client, int piece, bool isdone) => (client_data *client, int piece);
SendRequest (client_data *client, int piece) => (client_data *client);
Choke (int type, int length, int msgtype, char *payload, client_data *client) => (client_data *client);
Unchoke (int type, int length, int msgtype, char *payload, client_data *client) => (client_data *client);
Interested (int type, int length, int msgtype, char *payload, client_data *client) => (client_data *client);
Uninterested (int type, int length, int msgtype, char *payload, client_data *client) => (client_data *client);
Request (int type, int length, int msgtype, char *payload, client_data *client) => (client_data *client);
Cancel (int type, int length, int msgtype, char *payload, client_data *client) => (client_data *client);
CheckinWithTracker () => ();
SendRequestToTracker () => (int tracker);
GetTrackerResponse (int tracker) => ();
SendKeepAlives () => ();
UpdateChokeList () => (vector<client_data*> *list);
PickChoked (vector<client_data*> *list) => (vector<client_data*> *list);
SendChokeUnchoke (vector<client_data*> *list) => ();
Message (client_data *client, bool isnew) => ();
Connect (client_data *client, bool isnew) => ();
Dispatch (client_data *client, bool isnew) => ();
DoPiece (int type, int length, int msgtype, char *payload, client_data *client) => (client_data *client);

source Listen => Dispatch;
source TrackerTimer => CheckinWithTracker;
source ChokeTimer => DoChoke;
source KeepAliveTimer => SendKeepAlives;

Listen = GetClients -> SelectSockets -> CheckSockets;
typedef fresh IsNew;
Dispatch:[*, fresh] = Connect;
Dispatch:[*, *] = Message;
Connect = Handshake -> SetupConnection -> SendBitfield;
Message = ReadMessage -> HandleMessage -> MessageDone;
CheckinWithTracker = SendRequestToTracker -> GetTrackerResponse;
DoChoke () => ();
DoChoke = UpdateChokeList -> PickChoked -> SendChokeUnchoke;

typedef choke IsChoke;
typedef unchoke IsUnchoke;
typedef interested IsInterested;
typedef uninterested IsUninterested;
typedef have IsHave;
typedef bitfield IsBitfield;
typedef request IsRequest;
typedef piece IsPiece;
typedef cancel IsCancel;
typedef piececomplete PieceComplete;

HandleMessage:[*, *, choke, *, *] = Choke;
HandleMessage:[*, *, unchoke, *, *] = Unchoke;
HandleMessage:[*, *, interested, *, *] = Interested;
HandleMessage:[*, *, uninterested, *, *] = Uninterested;
HandleMessage:[*, *, have, *, *] = Have;
HandleMessage:[*, *, bitfield, *, *] = Bitfield;
HandleMessage:[*, *, request, *, *] = Request;
HandleMessage:[*, *, piece, *, *] = DoPiece;
HandleMessage:[*, *, cancel, *, *] = Cancel;
HandleMessage:[*, *, *, *, *] = Ignore;

DoPiece = Piece -> CompletePiece -> SendRequest;
CompletePiece:[*, *, piececomplete] = VerifyPiece;
CompletePiece:[*, *, *] = Partial;

handle error ReadMessage => CloseConnection;
handle error Handshake => HangUp;
handle error VerifyPiece => BadPiece;

atomic GetClients:{clients?};
atomic SetupConnection:{clients};
atomic SendBitfield:{clients};
atomic MessageDone:{clients!};
atomic CloseConnection:{clients};
atomic SendKeepAlives:{clients?};
atomic DoChoke:{clients?, chokelist};
atomic Piece:{pieces};
atomic VerifyPiece:{pieces?};
atomic Request:{pieces?};
