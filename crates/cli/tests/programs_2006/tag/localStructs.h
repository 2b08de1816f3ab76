// What the nodes of the game of tag share.
#ifndef LOCAL_STRUCTS_H
#define LOCAL_STRUCTS_H

typedef unsigned char byte;

struct message {
    struct sockaddr_in from;
    char kind;
    byte length;
    int x, y;
};

typedef struct {
    struct sockaddr_in address;
    int x, y;
    bool playing;
} player;

#endif
