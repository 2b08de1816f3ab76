// The nodes of the peer.
#include "mImpl.h"
#include <algorithm>

static vector<client_data *> clients;
static int listenfd, max_fd;
static byte pieces[NPIECES][PIECE_SIZE];
static int have[NPIECES], filled[NPIECES];
static unsigned char hashes[NPIECES][20];
static bool fresh_pending;
char *tracker_file;
int begin = 0, end = NPIECES;

static int readn(int fd, void *buf, int n)
{
    int left = n;
    char *p = (char *)buf;
    while (left > 0) {
        int r = read(fd, p, left);
        if (r < 0 && errno == EINTR) continue;
        if (r <= 0) return -1;
        left -= r, p += r;
    }
    return n;
}

static int send_message(int fd, int type, int len, const void *payload)
{
    unsigned char head[5];
    *(unsigned int *)head = htonl(len + 1);
    head[4] = type;
    if (write(fd, head, 5) != 5) return -1;
    if (len) return write(fd, payload, len);
    return 0;
}

void init(int argc, char **argv)
{
    struct sockaddr_in a;
    int opt = 1;
    if (argc < 2) {
        printf("usage: %s port\n", argv[0]);
        exit(-1);
    }
    signal(SIGPIPE, SIG_IGN);
    listenfd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(listenfd, SOL_SOCKET, SO_REUSEADDR, &opt, sizeof(opt));
    a.sin_family = AF_INET;
    a.sin_port = htons(atoi(argv[1]));
    a.sin_addr.s_addr = INADDR_ANY;
    if (bind(listenfd, (struct sockaddr*)&a, sizeof(a)) || listen(listenfd, 10)) {
        perror("bind");
        exit(-1);
    }
    tracker_file = "tracker.log";
    for (int i = begin; i < end; i++) {
        byte plain[PIECE_SIZE];
        DIGEST_CTX c;
        memset(plain, 'a' + i, PIECE_SIZE);
        DigestInit(&c);
        DigestUpdate(&c, plain, PIECE_SIZE);
        DigestFinal(hashes[i], &c);
    }
    memset(pieces[0], 'a', PIECE_SIZE);
    have[0] = 1;
}

int TrackerTimer(TrackerTimer_out *out) { sleep(1); return 0; }
int ChokeTimer(ChokeTimer_out *out) { usleep(50000); }
int KeepAliveTimer(KeepAliveTimer_out *out) { usleep(200000); }

int GetClients(GetClients_out *out)
{
    static fd_set fds;
    FD_ZERO(&fds);
    FD_SET(listenfd, &fds);
    max_fd = listenfd;
    vector<client_data*>::iterator i;
    for (i = clients.begin(); i != clients.end(); ++i)
        if (!(*i)->busy) {
            FD_SET((*i)->fd, &fds);
            max_fd = max(max_fd, (*i)->fd);
        }
    out->fds = &fds;
    out->maxfd = max_fd;
    return 0;
}

int SelectSockets(SelectSockets_in *in, SelectSockets_out *out)
{
    timeval tv;
    tv.tv_sec = 0; tv.tv_usec = 20000;
    out->fds = in->fds;
    out->numready = select(in->maxfd + 1, in->fds, 0, 0, &tv);
    return out->numready <= 0;
}

int CheckSockets(CheckSockets_in *in, CheckSockets_out *out)
{
    if (FD_ISSET(listenfd, in->fds)) {
        int fd = accept(listenfd, NULL, NULL);
        if (fd < 0) return -1;
        out->client = new client_data(fd);
        out->client->busy = true;
        out->isnew = true;
        return 0;
    }
    for (unsigned i = 0; i < clients.size(); i++)
        if (FD_ISSET(clients[i]->fd, in->fds)) {
            out->client = clients[i];
            out->client->busy = true;
            out->isnew = false;
            return 0;
        }
    return -1;
}

bool IsNew(bool isnew) { return isnew; }

int SetupConnection(SetupConnection_in *in, SetupConnection_out *out)
{
    clients.push_back(in->client);
    out->client = in->client;
    out->isnew = in->isnew;
}

int Handshake(Handshake_in *in, Handshake_out *out)
{
    char buf[68];
    if (readn(in->client->fd, buf, 68) < 0 || buf[0] != 19 || memcmp(buf + 1, "BitTorrent protocol", 19))
        return -1;
    memcpy(in->client->peer_id, buf + 48, 20);
    memcpy(buf + 48, "-FX0001-abcdefghijkl", 20);
    write(in->client->fd, buf, 68);
    out->client = in->client;
    out->isnew = in->isnew;
    return 0;
}

int SendBitfield(SendBitfield_in *in)
{
    byte field = 0;
    for (int i = begin; i < end; i++)
        if (have[i]) field |= 0x80 >> i;
    send_message(in->client->fd, BITFIELD, 1, &field);
    in->client->busy = false;
    return 0;
}

int ReadMessage(ReadMessage_in *in, ReadMessage_out *out)
{
    unsigned int len;
    byte type;
    if (readn(in->client->fd, &len, 4) < 0) return -1;
    len = ntohl(len);
    if (len > 1 << 16) return -2;
    out->length = len;
    out->client = in->client;
    out->msgtype = KEEPALIVE;
    if (len > 0) {
        if (readn(in->client->fd, &type, 1) < 0) return -1;
        out->msgtype = type;
        out->payload = new char[len];
        if (readn(in->client->fd, out->payload, len - 1) < 0) return -1;
    }
    return 0;
}

bool IsChoke(int t) { return t == CHOKE; }
bool IsUnchoke(int t) { return t == UNCHOKE; }
bool IsInterested(int t) { return t == INTERESTED; }
bool IsUninterested(int t) { return t == UNINTERESTED; }
bool IsHave(int t) { return t == HAVE; }
bool IsBitfield(int t) { return t == BITFIELD; }
bool IsRequest(int t) { return t == REQUEST; }
bool IsPiece(int t) { return t == PIECE; }
bool IsCancel(int t) { return t == CANCEL; }
bool PieceComplete(bool done) { return done; }

int Choke(Choke_in *in, Choke_out *out)
{
    in->client->choked = true;
    out->client = in->client;
    delete [] in->payload;
}
int Unchoke(Unchoke_in *in, Unchoke_out *out)
{
    in->client->choked = false;
    out->client = in->client;
    delete [] in->payload;
}
int Interested(Interested_in *in, Interested_out *out)
{
    in->client->interested = true;
    out->client = in->client;
    delete [] in->payload;
}
int Uninterested(Uninterested_in *in, Uninterested_out *out)
{
    in->client->interested = false;
    out->client = in->client;
    delete [] in->payload;
}
int Have(Have_in *in, Have_out *out)
{
    int n = ntohl(*(int *)in->payload);
    if (n < 0 || n >= NPIECES) return -1;
    in->client->bitfield[n] = 1;
    out->client = in->client;
    delete [] in->payload;
    return 0;
}
int Bitfield(Bitfield_in *in, Bitfield_out *out)
{
    for (int i = 0; i < NPIECES; i++)
        in->client->bitfield[i] = (in->payload[0] & (0x80 >> i)) != 0;
    out->client = in->client;
    delete [] in->payload;
    if (count(in->client->bitfield, in->client->bitfield + NPIECES, 1) > 0)
        send_message(in->client->fd, INTERESTED, 0, NULL);
    return 0;
}
int Request(Request_in *in, Request_out *out)
{
    unsigned int *arg = (unsigned int *)in->payload;
    int index = ntohl(arg[0]), off = ntohl(arg[1]), len = ntohl(arg[2]);
    out->client = in->client;
    if (index < 0 || index >= NPIECES || !have[index] || off + len > PIECE_SIZE) return -1;
    byte buf[8 + PIECE_SIZE];
    memcpy(buf, in->payload, 8);
    memcpy(buf + 8, pieces[index] + off, len);
    send_message(in->client->fd, PIECE, 8 + len, buf);
    delete [] in->payload;
    return 0;
}
int Cancel(Cancel_in *in, Cancel_out *out) { out->client = in->client; delete [] in->payload; return 0; }
int Ignore(Ignore_in *in, Ignore_out *out) { out->client = in->client; delete [] in->payload; return 0; }
int Piece(Piece_in *in, Piece_out *out)
{
    int index = ntohl(((int *)in->payload)[0]);
    int off = ntohl(((int *)in->payload)[1]);
    int len = in->length - 9;
    if (index < 0 || index >= NPIECES || off + len > PIECE_SIZE) return -1;
    memcpy(pieces[index] + off, in->payload + 8, len);
    filled[index] += len;
    out->client = in->client;
    out->piece = index;
    out->isdone = filled[index] >= PIECE_SIZE;
    delete [] in->payload;
    return 0;
}
int VerifyPiece(VerifyPiece_in *in, VerifyPiece_out *out)
{
    DIGEST_CTX ctx;
    unsigned char digest[20];
    DigestInit(&ctx);
    DigestUpdate(&ctx, pieces[in->piece], PIECE_SIZE);
    DigestFinal(digest, &ctx);
    if (memcmp(digest, hashes[in->piece], 20)) return EIO;
    have[in->piece] = 1;
    out->client = in->client;
    out->piece = in->piece;
    unsigned int n = htonl(in->piece);
    for (unsigned i = 0; i < clients.size(); i++)
        send_message(clients[i]->fd, HAVE, 4, &n);
    return 0;
}
int Partial(Partial_in *in, Partial_out *out) { out->client = in->client; out->piece = in->piece; return 0; }
int SendRequest(SendRequest_in *in, SendRequest_out *out)
{
    out->client = in->client;
    for (int i = 0; i < NPIECES; i++)
        if (!have[i] && in->client->bitfield[i]) {
            unsigned int req[3] = { htonl(i), htonl(filled[i]), htonl(PIECE_SIZE - filled[i]) };
            send_message(in->client->fd, REQUEST, 12, req);
            break;
        }
    return 0;
}
int MessageDone(MessageDone_in *in) { in->client->busy = false; return 0; }

int CloseConnection(CloseConnection_in *in)
{
    vector<client_data*>::iterator i = find(clients.begin(), clients.end(), in->client);
    if (i != clients.end()) clients.erase(i);
    close(in->client->fd);
    delete in->client;
}

void HangUp(Handshake_in *in, int err) { close(in->client->fd); delete in->client; }
void BadPiece(VerifyPiece_in *in, int err) { filled[in->piece] = 0; in->client->busy = false; }

int SendRequestToTracker(SendRequestToTracker_out *out)
{
    out->tracker = open(tracker_file, O_WRONLY | O_CREAT | O_APPEND, 0644);
    write(out->tracker, "checkin\n", 8);
    return out->tracker < 0;
}
int GetTrackerResponse(GetTrackerResponse_in *in) { close(in->tracker); return 0; }
int SendKeepAlives(SendKeepAlives_in *in, SendKeepAlives_out *out)
{
    int zero = 0;
    for (unsigned i = 0; i < clients.size(); i++)
        if (clients[i]->interested) write(clients[i]->fd, &zero, 4);
    return 0;
}
int UpdateChokeList(UpdateChokeList_out *out)
{
    out->list = new vector<client_data*>(clients);
    return 0;
}
int PickChoked(PickChoked_in *in, PickChoked_out *out)
{
    out->list = in->list;
    random_shuffle(in->list->begin(), in->list->end());
}
int SendChokeUnchoke(SendChokeUnchoke_in *in) { delete in->list; }

int Listen(Listen_out *out) { return 0; }
int Dispatch(Dispatch_in *in) { return 0; }
int Connect(Connect_in *in) { return 0; }
int Message(Message_in *in) { return 0; }
int HandleMessage(HandleMessage_in *in, HandleMessage_out *out) { return 0; }
int CompletePiece(CompletePiece_in *in, CompletePiece_out *out) { return 0; }
int DoPiece(DoPiece_in *in, DoPiece_out *out) { return 0; }
int CheckinWithTracker() { return 0; }
int DoChoke() { return 0; }
