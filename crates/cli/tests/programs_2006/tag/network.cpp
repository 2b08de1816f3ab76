// How the game of tag talks: "J x y" joins, "M x y" moves, "L" leaves.
#include "mImpl.h"

extern bool IsIt(player *p);

int sock;
int turns = 0;
// What std has, too.
int left = 0;
byte map[1001][1001];

void init(int argc, char **argv)
{
    struct sockaddr_in address;
    sock = socket(AF_INET, SOCK_DGRAM, 0);
    bzero(&address, sizeof(address));
    address.sin_family = AF_INET;
    address.sin_port = htons(atoi(argv[1]));
    address.sin_addr.s_addr = inet_addr("127.0.0.1");
    if (bind(sock, (struct sockaddr *)&address, sizeof(address)) < 0) {
        perror("bind");
        exit(1);
    }
}

int GetMessage(GetMessage_out *out)
{
    char text[128];
    message *m = new message;
    memset(m, 0, sizeof(*m));
    socklen_t size = sizeof(m->from);
    int length = recvfrom(sock, text, sizeof(text) - 1, 0, (struct sockaddr *)&m->from, &size);
    if (length <= 0) {
        delete m;
        return -1;
    }
    text[length] = 0;
    m->length = length;
    sscanf(text, "%c %d %d", &m->kind, &m->x, &m->y);
    out->m = m;
    return 0;
}

bool IsJoin(struct message *m)
{
    return m->kind == 'J';
}

int IsMove(struct message *m)
{
    return m->kind == 'M';
}

int Done(Done_in *in, Done_out *out)
{
    delete in->m;
    return 0;
}

int Heartbeat(Heartbeat_out *out)
{
    usleep(100000);
    out->turn = ++turns;
}

int Broadcast(Broadcast_in *in)
{
    for (int i = 0; i < in->count; i++)
        map[in->everybody[i]->x][in->everybody[i]->y]++;
    left = in->count;
    char text[1024];
    char one[64];
    sprintf(text, "%d:", in->turn);
    for (int i = 0; i < in->count; i++) {
        sprintf(one, " %d,%d%s", in->everybody[i]->x, in->everybody[i]->y, IsIt(in->everybody[i]) ? "*" : "");
        strcat(text, one);
    }
    for (int i = 0; i < in->count; i++)
        sendto(sock, text, strlen(text), 0, (struct sockaddr *)&in->everybody[i]->address, sizeof(struct sockaddr_in));
}
