// The nodes of hello.flux, with sockets of their own: a debugger stops in each.
#include "hello.flux.h"

#include <arpa/inet.h>
#include <cstdio>
#include <cstdlib>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static int listener;
static int clients;

// Opens the port that the command line names.
void init(int argc, char **argv)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(argc > 1 ? atoi(argv[1]) : 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    const int yes = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, reinterpret_cast<sockaddr *>(&address), sizeof address) != 0 || listen(listener, 128) != 0) {
        perror("cannot listen");
        _exit(1);
    }
    fprintf(stderr, "listening on port %d\n", ntohs(address.sin_port));
}

int Listen(Listen_out *out)
{
    out->socket = accept(listener, nullptr, nullptr);
    if (out->socket < 0) {
        return 1;
    }
    // A client that says nothing is not waited for longer than this.
    const timeval limit{10, 0};
    setsockopt(out->socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    return 0;
}

int Read(Read_in *in, Read_out *out)
{
    out->socket = in->socket;
    while (out->line.empty() || out->line.back() != '\n') {
        char part[512];
        const ssize_t length = recv(in->socket, part, sizeof part, 0);
        if (length <= 0 || out->line.size() > 4096) {
            return 1;
        }
        out->line.append(part, length);
    }
    return 0;
}

int Count(Count_in *in, Count_out *out)
{
    out->socket = in->socket;
    out->line = in->line;
    out->client = ++clients;
    return 0;
}

int Reply(Reply_in *in)
{
    const std::string text = std::to_string(in->client) + ": " + in->line;
    const bool is_sent = send(in->socket, text.data(), text.size(), MSG_NOSIGNAL) == ssize_t(text.size());
    close(in->socket);
    return is_sent ? 0 : 1;
}

// The inputs are those of the node that failed.
void HangUp(Read_in *in, int)
{
    close(in->socket);
}
