/// \file
/// The floor of the reactor: a bare loop of epoll. Nothing is parsed, nothing waits for a peer that does not read, what
/// was received at once is answered by one send, and nothing survives a fault: no server can do with less.
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
bool answer(const floor_work &work, int socket)
{
    static char bytes[65536];
    const ssize_t count = recv(socket, bytes, sizeof bytes, 0);
    if (count < 0) {
        return errno == EAGAIN;
    }
    if (count == 0) {
        return false;
    }
    const floor_answer sent = answer_to(work, bytes, static_cast<std::size_t>(count));
    return send(socket, sent.bytes, sent.size, MSG_NOSIGNAL) == static_cast<ssize_t>(sent.size);
}

} // namespace

int main(int argc, char **argv)
{
    const floor_work work = listening(argc, argv);
    const int epoll = checked(epoll_create1(0), "epoll_create1");
    watch(epoll, work.listener, EPOLLIN);
    epoll_event events[256];
    while (true) {
        const int count = epoll_wait(epoll, events, 256, -1);
        for (int each = 0; each < count; ++each) {
            const int socket = events[each].data.fd;
            if (socket == work.listener) {
                const int made = checked(accept4(work.listener, nullptr, nullptr, SOCK_NONBLOCK), "accept4");
                watch(epoll, made, EPOLLIN | EPOLLET);
            } else if (!answer(work, socket)) {
                close(socket);
            }
        }
    }
}
