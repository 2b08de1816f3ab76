/// \file
/// The floor of the reactor: sends back what comes, in a bare loop of epoll. Nothing is parsed, nothing waits for a
/// peer that does not read, nothing survives a fault: no server can do with less.
#include "listening.hpp"

#include <cerrno>
#include <sys/epoll.h>
#include <unistd.h>

namespace {

void watch(int epoll, int socket, std::uint32_t events)
{
    epoll_event event{};
    event.events = events;
    event.data.fd = socket;
    checked(epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event), "epoll_ctl");
}

/// False where the peer is gone.
bool echo(int socket)
{
    static char bytes[65536];
    const ssize_t count = recv(socket, bytes, sizeof bytes, 0);
    if (count < 0) {
        return errno == EAGAIN;
    }
    return count > 0 && send(socket, bytes, static_cast<std::size_t>(count), MSG_NOSIGNAL) == count;
}

} // namespace

int main(int argc, char **argv)
{
    const int listener = listening(argc, argv);
    const int epoll = checked(epoll_create1(0), "epoll_create1");
    watch(epoll, listener, EPOLLIN);
    epoll_event events[256];
    while (true) {
        const int count = epoll_wait(epoll, events, 256, -1);
        for (int each = 0; each < count; ++each) {
            const int socket = events[each].data.fd;
            if (socket == listener) {
                watch(epoll, checked(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK), "accept4"), EPOLLIN | EPOLLET);
            } else if (!echo(socket)) {
                close(socket);
            }
        }
    }
}
