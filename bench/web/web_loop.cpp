/// \file
/// The floor of a web server: a bare loop of epoll that sends one file, with the head that `std.http` gives it, for
/// whatever has been received at once. Nothing is parsed, nothing is looked up, no peer is waited for but one that does
/// not read. A file of at most 64 KiB is in memory and goes out with its head by one send, a larger one by sendfile.
#include "../floor/checked.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <vector>

namespace {

struct answer {
    std::string bytes; // the head, and a small content
    int file;
    std::size_t file_size; // 0 where the content is in memory
    bool closes;
};

/// What a connection has not sent yet.
struct unsent {
    bool is_answering = false;
    std::size_t of_bytes = 0;
    off_t of_file = 0;
};

answer read_answer(const char *path, bool closes)
{
    answer made{};
    made.closes = closes;
    made.file = checked(open(path, O_RDONLY), path);
    struct stat what{};
    checked(fstat(made.file, &what), "fstat");
    const auto size = static_cast<std::size_t>(what.st_size);
    made.bytes = std::string("HTTP/1.1 200 OK\r\nDate: Mon, 23 Nov 2026 08:30:00 GMT\r\n"
                             "ETag: \"6742c0f1-1e2d3c4b-400\"\r\nLast-Modified: Mon, 23 Nov 2026 08:00:00 GMT\r\n"
                             "Content-Type: application/octet-stream\r\nAccept-Ranges: bytes\r\nContent-Length: ") +
                 std::to_string(size) + (closes ? "\r\nConnection: close\r\n\r\n" : "\r\n\r\n");
    if (size > 64 * 1024) {
        made.file_size = size;
        return made;
    }
    const std::size_t head = made.bytes.size();
    made.bytes.resize(head + size);
    checked(read(made.file, made.bytes.data() + head, size) == what.st_size ? 0 : -1, "read");
    return made;
}

int listening(const char *port)
{
    const int made = checked(socket(AF_INET, SOCK_STREAM, 0), "socket");
    const int on = 1;
    setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<std::uint16_t>(std::atoi(port)));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    checked(bind(made, reinterpret_cast<sockaddr *>(&at), sizeof at), "bind");
    checked(listen(made, SOMAXCONN), "listen");
    socklen_t size = sizeof at;
    checked(getsockname(made, reinterpret_cast<sockaddr *>(&at), &size), "getsockname");
    std::fprintf(stderr, "listening on 127.0.0.1:%d\n", ntohs(at.sin_port));
    return made;
}

void watch(int epoll, int socket, std::uint32_t events)
{
    epoll_event event{};
    event.events = events;
    event.data.fd = socket;
    checked(epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event), "epoll_ctl");
}

/// False where the peer is gone, or has all that it gets.
bool send_on(const answer &with, int socket, unsent &left)
{
    while (left.of_bytes < with.bytes.size()) {
        const ssize_t count = send(socket, with.bytes.data() + left.of_bytes, with.bytes.size() - left.of_bytes,
                                   MSG_NOSIGNAL | (with.file_size != 0 ? MSG_MORE : 0));
        if (count < 0) {
            return errno == EAGAIN;
        }
        left.of_bytes += static_cast<std::size_t>(count);
    }
    while (left.of_file < static_cast<off_t>(with.file_size)) {
        if (sendfile(socket, with.file, &left.of_file, with.file_size - static_cast<std::size_t>(left.of_file)) < 0) {
            return errno == EAGAIN;
        }
    }
    left = {};
    return !with.closes;
}

bool go_on(const answer &with, int socket, unsent &left)
{
    if (!left.is_answering) {
        static char bytes[16384];
        const ssize_t count = recv(socket, bytes, sizeof bytes, 0);
        if (count <= 0) {
            return count < 0 && errno == EAGAIN;
        }
        left.is_answering = true;
    }
    return send_on(with, socket, left);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 4) {
        std::fprintf(stderr, "usage: %s PORT FILE keeps|closes\n", argv[0]);
        return 2;
    }
    std::signal(SIGPIPE, SIG_IGN); // sendfile has no flag for it
    const answer with = read_answer(argv[2], std::strcmp(argv[3], "closes") == 0);
    const int listener = listening(argv[1]);
    const int epoll = checked(epoll_create1(0), "epoll_create1");
    watch(epoll, listener, EPOLLIN);
    std::vector<unsent> all;
    epoll_event events[256];
    while (true) {
        const int count = epoll_wait(epoll, events, 256, -1);
        for (int each = 0; each < count; ++each) {
            const int socket = events[each].data.fd;
            if (socket == listener) {
                const int made = checked(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK), "accept4");
                all.resize(std::max(all.size(), static_cast<std::size_t>(made) + 1));
                all[static_cast<std::size_t>(made)] = {};
                watch(epoll, made, EPOLLIN | (with.file_size != 0 ? EPOLLOUT : 0U) | EPOLLET);
            } else if (!go_on(with, socket, all[static_cast<std::size_t>(socket)])) {
                close(socket);
            }
        }
    }
}
