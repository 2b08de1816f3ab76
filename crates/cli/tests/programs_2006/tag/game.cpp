// The state of the game of tag and what changes it.
#include "mStructs.h"
#include "mImpl.h"

#define WIDTH 100

player players[16];
int it = -1;

// Today std has one, too, which fits better where a player is not const.
int distance(const player *a, const player *b)
{
    return abs(a->x - b->x) + abs(a->y - b->y);
}

static player *Find(message *m)
{
    for (int i = 0; i < 16; i++)
        if (players[i].playing && memcmp(&players[i].address, &m->from, sizeof(m->from)) == 0)
            return &players[i];
    return NULL;
}

int Join(Join_in *in, Join_out *out)
{
    out->m = in->m;
    for (int i = 0; i < 16; i++) {
        if (players[i].playing)
            continue;
        players[i].playing = true;
        players[i].address = in->m->from;
        players[i].x = in->m->x;
        players[i].y = in->m->y;
        if (it < 0)
            it = i;
        return 0;
    }
    return 1;
}

int Move(Move_in *in, Move_out *out)
{
    out->m = in->m;
    player *p = Find(in->m);
    if (p == NULL)
        return 1;
    p->x = in->m->x < 0 ? 0 : in->m->x > WIDTH ? WIDTH : in->m->x;
    p->y = in->m->y < 0 ? 0 : in->m->y > WIDTH ? WIDTH : in->m->y;
    player *tagger = &players[it];
    for (int i = 0; p == tagger && i < 16; i++)
        if (i != it && players[i].playing && distance(&players[i], p) == 0)
            it = i;
}

int Leave(Leave_in *in, Leave_out *out)
{
    out->m = in->m;
    player *p = Find(in->m);
    if (p != NULL)
        p->playing = false;
    return 0;
}

int Update(Update_in *in, Update_out *out)
{
    out->turn = in->turn;
    out->count = 0;
    for (int i = 0; i < 16; i++)
        if (players[i].playing)
            out->everybody[out->count++] = &players[i];
    return out->count == 0;
}

bool IsIt(player *p)
{
    return p == &players[it];
}

int DoMessage(DoMessage_in *in, DoMessage_out *out) {}
int Message(Message_in *in) {}
int Turn(Turn_in *in) {}
