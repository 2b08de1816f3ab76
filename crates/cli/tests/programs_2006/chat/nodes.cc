// The nodes of the counting server.
#include "mImpl.h"

vector<int> totals(1000);
int listener;

void init(int argc, char** argv)
{
    struct sockaddr_in address;
    int on = 1;
    listener = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, (char*)&on, sizeof on);
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons(atoi(argv[1]));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr*)&address, sizeof address) || listen(listener, 64)) {
        cerr << "cannot listen: " << strerror(errno) << endl;
        exit(1);
    }
}

int Listen(Listen_in* in, Listen_out* out)
{
    out->socket = accept(listener, 0, 0);
    return out->socket < 0 ? errno : 0;
}

int GetUser(GetUser_in* in, GetUser_out* out)
{
    char line[512];
    int n = read(in->socket, line, 511);
    if (n <= 0)
        return 1;
    line[n] = '\0';
    char* colon = strchr(line, ':');
    if (!colon)
        return 2;
    out->socket = in->socket;
    out->user = atoi(line);
    out->words = new string(colon + 1);
    return 0;
}

int Accept(Accept_in* in, Accept_out* out) { }

int UserSession(Accept_out* out)
{
    return out->user;
}

int Count(Count_in* in, Count_out* out)
{
    int words = 0;
    bool inside = false;
    for (string::iterator i = in->words->begin(); i != in->words->end(); ++i) {
        bool letter = isalpha(*i) != 0;
        words += letter && !inside;
        inside = letter;
    }
    delete in->words;
    totals[in->user] += words;
    out->total = totals[in->user];
    out->socket = in->socket;
    out->user = in->user;
}

// Whether the user has sent a lot.
bool Count(int total)
{
    return total >= 100;
}

int Request(Request_in* in, Request_out* out) { return 0; }
int Answer(Answer_in* in, Answer_out* out) { return 0; }

int Say(int socket, const char* text, int total)
{
    char answer[64];
    sprintf(answer, "%s%d\n", text, total);
    write(socket, answer, strlen(answer));
}

int Reply(Reply_in* in, Reply_out* out)
{
    Say(in->socket, "words: ", in->total);
    out->socket = in->socket;
}

int Congratulate(Congratulate_in* in, Congratulate_out* out)
{
    Say(in->socket, "so many words: ", in->total);
    out->socket = in->socket;
}

int Close(Close_in* in, Close_out* out)
{
    return close(in->socket);
}

void Refuse(GetUser_in* in)
{
    write(in->socket, "?\n", 2);
    close(in->socket);
}
