// Connections over TCP: sockets of the system, each owned by the flow that has its number.

#include "tcp.flux.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tcp {
namespace {

// Gives a descriptor that listens on the port, or -1 with the reason in errno.
int open_listener(int family, int port)
{
    const int listener = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0) {
        return -1;
    }
    const int on = 1;
    const int off = 0;
    ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const in_port_t network_port = htons(static_cast<in_port_t>(port));
    int bound = -1;
    if (family == AF_INET6) {
        ::setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
        sockaddr_in6 any{};
        any.sin6_family = AF_INET6;
        any.sin6_port = network_port;
        bound = ::bind(listener, reinterpret_cast<const sockaddr *>(&any), sizeof any);
    } else {
        sockaddr_in any{};
        any.sin_family = AF_INET;
        any.sin_port = network_port;
        bound = ::bind(listener, reinterpret_cast<const sockaddr *>(&any), sizeof any);
    }
    if (bound == 0 && ::listen(listener, SOMAXCONN) == 0) {
        return listener;
    }
    const int reason = errno;
    ::close(listener);
    errno = reason;
    return -1;
}

// A server that cannot listen must not look as if it did.
[[noreturn]] void give_up(int port, const char *reason)
{
    std::fprintf(stderr, "flux: tcp.Listen: cannot listen on port %d: %s\n", port, reason);
    std::fflush(nullptr);
    ::_exit(EXIT_FAILURE);
}

// The descriptor that listens on the port, which is opened by the first source that asks for it.
int listener_of(int port)
{
    static std::mutex opening;
    static std::map<int, int> listeners;
    if (port < 0 || port > 65535) {
        give_up(port, "ports are numbers from 0 to 65535");
    }
    const std::lock_guard<std::mutex> alone(opening);
    const auto known = listeners.find(port);
    if (known != listeners.end()) {
        return known->second;
    }
    int listener = open_listener(AF_INET6, port);
    if (listener < 0 && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL)) {
        listener = open_listener(AF_INET, port);
    }
    if (listener < 0) {
        give_up(port, std::strerror(errno));
    }
    listeners.emplace(port, listener);
    return listener;
}

} // namespace

int Listen(Listen_in *in, Listen_out *out)
{
    // An interruption comes through as EINTR: the server is told to end.
    out->socket = ::accept4(listener_of(in->port), nullptr, nullptr, SOCK_CLOEXEC);
    if (out->socket < 0) {
        return errno;
    }
    const int on = 1;
    ::setsockopt(out->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return 0;
}

int Read(Read_in *in, Read_out *out)
{
    out->socket = in->socket;
    out->bytes.resize(in->most);
    ssize_t count = 0;
    do {
        count = ::recv(in->socket, out->bytes.data(), out->bytes.size(), 0);
    } while (count < 0 && errno == EINTR);
    if (count < 0) {
        return errno;
    }
    out->bytes.resize(static_cast<std::size_t>(count));
    return 0;
}

int Send(Send_in *in, Send_out *out)
{
    out->socket = in->socket;
    std::size_t sent = 0;
    while (sent < in->bytes.size()) {
        const ssize_t count = ::send(in->socket, in->bytes.data() + sent, in->bytes.size() - sent, MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR) {
            return errno;
        }
        sent += static_cast<std::size_t>(count < 0 ? 0 : count);
    }
    return 0;
}

int Close(Close_in *in)
{
    // Linux frees the descriptor whatever close says.
    ::close(in->socket);
    return 0;
}

} // namespace tcp
