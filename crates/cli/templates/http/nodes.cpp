// The nodes of NAME.flux: plain functions that know nothing of threads or locks. Flux writes NAME.flux.h.
#include "NAME.flux.h"

#include <arpa/inet.h>
#include <cstdio>
#include <cstdlib>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static int listener;
static int visits;

// Called once, before the source starts: opens the port that the command line names, or 8080.
void init(int argc, char **argv)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(argc > 1 ? atoi(argv[1]) : 8080);
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

// GET /PATH HTTP/1.1, and lines up to an empty one.
int ReadRequest(ReadRequest_in *in, ReadRequest_out *out)
{
    std::string request;
    while (request.find("\r\n\r\n") == std::string::npos) {
        char part[4096];
        const ssize_t length = recv(in->socket, part, sizeof part, 0);
        if (length <= 0 || request.size() > 65536) {
            return 400;
        }
        request.append(part, length);
    }
    const size_t end = request.find(' ', 4);
    if (request.compare(0, 5, "GET /") != 0 || end > request.find('\r')) {
        return 400;
    }
    out->socket = in->socket;
    out->path = request.substr(4, end - 4);
    return 0;
}

bool IsHome(std::string path)
{
    return path == "/";
}

int Home(Home_in *in, Home_out *out)
{
    out->socket = in->socket;
    out->status = "200 OK";
    out->text = "Visit " + std::to_string(++visits) + ".\n";
    return 0;
}

int NotFound(NotFound_in *in, NotFound_out *out)
{
    out->socket = in->socket;
    out->status = "404 Not Found";
    out->text = "There is no " + in->path + " here.\n";
    return 0;
}

static int reply(int socket, const std::string &status, const std::string &text)
{
    const std::string all = "HTTP/1.1 " + status + "\r\nContent-Type: text/plain\r\nContent-Length: " +
                            std::to_string(text.size()) + "\r\nConnection: close\r\n\r\n" + text;
    const bool is_sent = send(socket, all.data(), all.size(), MSG_NOSIGNAL) == ssize_t(all.size());
    close(socket);
    return is_sent ? 0 : 1;
}

int Send(Send_in *in)
{
    return reply(in->socket, in->status, in->text);
}

// The inputs are those of the node that failed.
void BadRequest(ReadRequest_in *in, int)
{
    reply(in->socket, "400 Bad Request", "That is no request.\n");
}
