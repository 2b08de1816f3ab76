/// \file
/// The floor of a service between clients and servers: a bare loop of epoll that gives each client a connection of its
/// own to the next of some servers, and sends on whatever comes from either side. Nothing is parsed and no server is
/// chosen by what a client says. A side that does not read is waited for, and the other not read meanwhile.
#include "checked.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace {

/// One side of a pair of connections; the other one is `peer`.
struct side {
    int socket = -1;
    side *peer = nullptr;
    /// What has come from the peer and could not be sent yet.
    std::string unsent;
    bool is_closed = false;
};

class relay
{
  public:
    relay(int listener, std::vector<std::uint16_t> servers)
        : listener_(listener), servers_(std::move(servers)), epoll_(checked(epoll_create1(0), "epoll_create1"))
    {
        watch(EPOLL_CTL_ADD, listener_, nullptr, EPOLLIN);
    }

    [[noreturn]] void run()
    {
        epoll_event events[256];
        while (true) {
            const int count = checked(epoll_wait(epoll_, events, 256, -1), "epoll_wait");
            for (int each = 0; each < count; ++each) {
                if (events[each].data.ptr == nullptr) {
                    accept();
                } else {
                    handle(*static_cast<side *>(events[each].data.ptr), events[each].events);
                }
            }
            // Later events of the same wait may have named them.
            for (const side *each : closed_) {
                delete each;
            }
            closed_.clear();
        }
    }

  private:
    // Who has something to send is asked whether it can; who has sent what its peer cannot take is not read.
    void watch_for(side &of) const
    {
        const std::uint32_t reads = of.peer->unsent.empty() ? std::uint32_t{EPOLLIN} : 0;
        const std::uint32_t sends = of.unsent.empty() ? 0 : std::uint32_t{EPOLLOUT};
        watch(EPOLL_CTL_MOD, of.socket, &of, reads | sends);
    }

    void watch(int operation, int socket, side *of, std::uint32_t events) const
    {
        epoll_event event{};
        event.events = events;
        event.data.ptr = of;
        checked(epoll_ctl(epoll_, operation, socket, &event), "epoll_ctl");
    }

    void accept()
    {
        const int client = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK);
        if (client < 0) {
            return;
        }
        const int server = checked(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), "socket");
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_port = htons(servers_[next_++ % servers_.size()]);
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (connect(server, reinterpret_cast<sockaddr *>(&at), sizeof at) < 0 && errno != EINPROGRESS) {
            std::perror("connect");
            std::exit(1);
        }
        side *const one = new side{client, nullptr, {}, false};
        side *const other = new side{server, one, {}, false};
        one->peer = other;
        for (const side *each : {one, other}) {
            const int on = 1;
            setsockopt(each->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        }
        watch(EPOLL_CTL_ADD, client, one, EPOLLIN);
        watch(EPOLL_CTL_ADD, server, other, EPOLLIN);
    }

    void handle(side &from, std::uint32_t events)
    {
        if (from.is_closed) {
            return;
        }
        if ((events & EPOLLOUT) != 0 && !from.unsent.empty()) {
            send_rest(from);
        }
        if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 && !from.is_closed) {
            pass_on(from);
        }
    }

    void pass_on(side &from)
    {
        static char bytes[65536];
        const ssize_t size = recv(from.socket, bytes, sizeof bytes, 0);
        if (size <= 0) {
            if (size == 0 || errno != EAGAIN) {
                close_both(from);
            }
            return;
        }
        side &to = *from.peer;
        const ssize_t sent = send(to.socket, bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL);
        if (sent == size) {
            return;
        }
        if (sent < 0 && errno != EAGAIN) {
            return close_both(from);
        }
        const auto begin = static_cast<std::size_t>(sent < 0 ? 0 : sent);
        to.unsent.assign(bytes + begin, static_cast<std::size_t>(size) - begin);
        // A server that is not connected yet is waited for as one that does not read.
        watch_for(from);
        watch_for(to);
    }

    void send_rest(side &to)
    {
        const ssize_t sent = send(to.socket, to.unsent.data(), to.unsent.size(), MSG_NOSIGNAL);
        if (sent < 0) {
            if (errno != EAGAIN) {
                close_both(to);
            }
            return;
        }
        to.unsent.erase(0, static_cast<std::size_t>(sent));
        if (to.unsent.empty()) {
            watch_for(to);
            watch_for(*to.peer);
        }
    }

    void close_both(side &one)
    {
        for (side *each : {&one, one.peer}) {
            close(each->socket);
            each->is_closed = true;
            closed_.push_back(each);
        }
    }

    int listener_;
    std::vector<std::uint16_t> servers_;
    std::size_t next_ = 0;
    int epoll_;
    std::vector<side *> closed_;
};

int listening()
{
    const int made = checked(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), "socket");
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    checked(bind(made, reinterpret_cast<sockaddr *>(&at), sizeof at), "bind");
    checked(listen(made, SOMAXCONN), "listen");
    socklen_t size = sizeof at;
    checked(getsockname(made, reinterpret_cast<sockaddr *>(&at), &size), "getsockname");
    std::fprintf(stderr, "listening on 127.0.0.1:%d\n", ntohs(at.sin_port));
    return made;
}

} // namespace

int main(int argc, char **argv)
{
    std::vector<std::uint16_t> servers;
    for (int each = 1; each < argc; ++each) {
        servers.push_back(static_cast<std::uint16_t>(std::atoi(argv[each])));
    }
    if (servers.empty()) {
        std::fprintf(stderr, "usage: %s PORT-OF-A-SERVER...\n", argv[0]);
        return 2;
    }
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    relay(listening(), std::move(servers)).run();
}
