// What the nodes of the peer share.
#ifndef LOCALSTRUCTS_H
#define LOCALSTRUCTS_H
#include <vector>
#include "digest.h"
using namespace std;
enum { CHOKE = 0, UNCHOKE, INTERESTED, UNINTERESTED, HAVE, BITFIELD, REQUEST, PIECE, CANCEL, KEEPALIVE = -1 };
#define PIECE_SIZE 8
#define NPIECES 4
typedef unsigned char byte;
class client_data {
public:
    int fd;
    bool choked, interested, busy;
    byte bitfield[NPIECES];
    char peer_id[20];
    client_data(int f) : fd(f), choked(true), interested(false), busy(false) { memset(bitfield, 0, sizeof bitfield); }
};
#endif
