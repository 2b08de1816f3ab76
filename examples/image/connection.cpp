// Connections; connection.h explains them.
#include "connection.h"

#include "request.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <new>
#include <system_error>
#include <utility>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace image {

namespace {

/// No more sockets than this are served, however many descriptors the process may have.
constexpr rlim_t max_sockets = 65'536;

/// Milliseconds on a clock that only goes forward; as coarse as the kernel's tick, and cheap to read.
std::int64_t now_ms()
{
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

[[noreturn]] void throw_errno(const std::string &what)
{
    throw std::system_error(errno, std::generic_category(), what);
}

/// Whether there is a request to hand out: a whole head, or more than we take.
bool has_request(const connection &client)
{
    return client.length == client.input.size() || head_length({client.input.data(), client.length}) != 0;
}

/// Drops the first `bytes` of the input, and empty lines after them: a client may send such before a request
/// (RFC 9112, section 2.2).
void drop_input(connection &client, std::size_t bytes)
{
    while (bytes < client.length && (client.input[bytes] == '\r' || client.input[bytes] == '\n'))
        ++bytes;
    client.length -= bytes;
    std::memmove(client.input.data(), client.input.data() + bytes, client.length);
}

} // namespace

connection_table::connection_table(const time_limits &limits) : limits_(limits)
{
    rlimit descriptors{};
    if (getrlimit(RLIMIT_NOFILE, &descriptors) != 0)
        throw_errno("getrlimit");
    connections_.resize(std::min(descriptors.rlim_cur, max_sockets));
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_ < 0)
        throw_errno("epoll_create1");
}

connection_table::~connection_table()
{
    for (std::size_t socket = 0; socket < connections_.size(); ++socket) {
        if (connections_[socket] && connections_[socket]->deadline_ms.load() != 0)
            ::close(static_cast<int>(socket));
    }
    if (listener_ >= 0)
        ::close(listener_);
    ::close(epoll_);
}

void connection_table::listen(const std::string &address, const std::string &port)
{
    addrinfo hints{};
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo *found = nullptr;
    const std::string place = address + " port " + port;
    if (const int error = getaddrinfo(address.c_str(), port.c_str(), &hints, &found); error != 0)
        throw std::system_error(EINVAL, std::generic_category(), place + ": " + gai_strerror(error));
    const std::unique_ptr<addrinfo, void (*)(addrinfo *)> result(found, freeaddrinfo);

    listener_ = ::socket(result->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener_ < 0)
        throw_errno("socket");
    // Accepted sockets inherit TCP_NODELAY; an answer is sent whole, so holding back its end gains nothing.
    const int on = 1;
    setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(listener_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (bind(listener_, result->ai_addr, result->ai_addrlen) != 0)
        throw_errno(place);
    if (::listen(listener_, SOMAXCONN) != 0)
        throw_errno("listen");
    epoll_event event{.events = EPOLLIN, .data = {.fd = listener_}};
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, listener_, &event) != 0)
        throw_errno("epoll_ctl");
}

int connection_table::port() const
{
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    if (getsockname(listener_, reinterpret_cast<sockaddr *>(&address), &length) != 0)
        throw_errno("getsockname");
    const bool is_ipv6 = address.ss_family == AF_INET6;
    return ntohs(is_ipv6 ? reinterpret_cast<const sockaddr_in6 &>(address).sin6_port
                         : reinterpret_cast<const sockaddr_in &>(address).sin_port);
}

int connection_table::next_request(int &socket)
{
    for (;;) {
        while (next_event_ < event_count_) {
            socket = events_[static_cast<std::size_t>(next_event_++)].data.fd;
            if (handle(socket))
                return 0;
        }
        // Between two batches: no event of a connection that a sweep touches is still to be handled.
        if (now_ms() >= next_sweep_ms_)
            sweep();
        next_event_ = 0;
        event_count_ = epoll_wait(epoll_, events_.data(), static_cast<int>(events_.size()), limits_.sweep_ms);
        if (event_count_ < 0) {
            event_count_ = 0;
            return errno;
        }
    }
}

std::string_view connection_table::request(int socket) const
{
    return {at(socket).input.data(), at(socket).length};
}

void connection_table::take(int socket, std::size_t bytes)
{
    at(socket).taken = bytes;
}

int connection_table::send(int socket, std::string_view head, std::string_view body) const
{
    std::array<iovec, 2> parts{{{const_cast<char *>(head.data()), head.size()},
                                {const_cast<char *>(body.data()), body.size()}}};
    const std::int64_t deadline_ms = now_ms() + limits_.write_ms;
    while (parts[0].iov_len + parts[1].iov_len > 0) {
        msghdr message{};
        message.msg_iov = parts.data();
        message.msg_iovlen = parts.size();
        const ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL);
        if (sent >= 0) {
            auto rest = static_cast<std::size_t>(sent);
            for (iovec &part : parts) {
                const std::size_t here = std::min(rest, part.iov_len);
                part.iov_base = static_cast<char *>(part.iov_base) + here;
                part.iov_len -= here;
                rest -= here;
            }
        } else if (errno == EAGAIN) {
            const std::int64_t left_ms = deadline_ms - now_ms();
            pollfd writable{socket, POLLOUT, 0};
            if (left_ms <= 0 || poll(&writable, 1, static_cast<int>(left_ms)) == 0)
                return ETIMEDOUT;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

void connection_table::finish(int socket, bool close)
{
    connection &client = at(socket);
    const std::int64_t now = now_ms();
    if (close) {
        shutdown(socket, SHUT_WR);
        client.lingering = true;
        wait_for(socket, client, EPOLLIN, now + limits_.linger_ms);
        return;
    }
    drop_input(client, std::exchange(client.taken, 0));
    if (has_request(client))
        wait_for(socket, client, EPOLLIN | EPOLLOUT, now + limits_.idle_ms);
    else
        wait_for(socket, client, EPOLLIN, now + (client.length > 0 ? limits_.head_ms : limits_.idle_ms));
}

/// Deals with an event on `socket`. True where its connection now has a request for a flow.
bool connection_table::handle(int socket)
{
    if (socket == listener_) {
        accept_all();
        return false;
    }
    connection &client = at(socket);
    const std::int64_t deadline_ms = client.deadline_ms.exchange(0, std::memory_order_acquire);
    if (client.lingering) {
        drain(socket, client, deadline_ms);
        return false;
    }
    if (has_request(client))
        return true;

    const ssize_t received = recv(socket, client.input.data() + client.length, client.input.size() - client.length, 0);
    bool ended = received == 0 || (received < 0 && errno != EAGAIN && errno != EINTR);
    if (received > 0) {
        client.length += static_cast<std::size_t>(received);
        drop_input(client, 0);
        if (has_request(client))
            return true;
    }
    const std::int64_t now = now_ms();
    ended = ended || now >= deadline_ms;
    if (ended && client.length > 0)
        return true;
    if (ended) {
        ::close(socket);
        return false;
    }
    const std::int64_t head_deadline_ms = std::min(deadline_ms, now + limits_.head_ms);
    wait_for(socket, client, EPOLLIN, client.length > 0 ? head_deadline_ms : deadline_ms);
    return false;
}

/// Reads and drops what a client sends after our side was closed; closes its side when it has, or takes too long.
void connection_table::drain(int socket, connection &client, std::int64_t deadline_ms)
{
    const ssize_t received = recv(socket, client.input.data(), client.input.size(), 0);
    const bool more = received > 0 || (received < 0 && (errno == EAGAIN || errno == EINTR));
    if (more && now_ms() < deadline_ms)
        wait_for(socket, client, EPOLLIN, deadline_ms);
    else
        ::close(socket);
}

void connection_table::accept_all()
{
    for (;;) {
        const int socket = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (socket >= 0 && adopt(socket))
            continue;
        // Out of descriptors or memory: connections wait in the kernel until the next sweep. Were the listener
        // watched meanwhile, it would wake us again and again for nothing.
        if (socket >= 0 || errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            watch_listener(false);
        if (socket >= 0)
            ::close(socket);
        return;
    }
}

/// Takes up a new connection; false where there is no room for it.
bool connection_table::adopt(int socket)
{
    const auto place = static_cast<std::size_t>(socket);
    if (place >= connections_.size())
        return false;
    if (!connections_[place])
        connections_[place].reset(new (std::nothrow) connection);
    if (!connections_[place])
        return false;
    connection &client = *connections_[place];
    client.lingering = false;
    client.length = 0;
    client.taken = 0;
    epoll_event event{.events = 0, .data = {.fd = socket}};
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &event) != 0)
        return false;
    wait_for(socket, client, EPOLLIN, now_ms() + limits_.head_ms);
    return true;
}

/// Arms `socket` for one event. By the time this returns the connection may be another thread's.
void connection_table::wait_for(int socket, connection &client, std::uint32_t events, std::int64_t deadline_ms)
{
    client.deadline_ms.store(deadline_ms, std::memory_order_release);
    epoll_event event{.events = events | EPOLLONESHOT, .data = {.fd = socket}};
    // Not by epoll_ctl(), which ThreadSanitizer holds to use the socket until it returns: the event may come before
    // that, and whoever gets it may close the socket. To the kernel that is the same as afterwards.
    [[maybe_unused]] const long error = syscall(SYS_epoll_ctl, epoll_, EPOLL_CTL_MOD, socket, &event);
    assert(error == 0);
}

/// Ends the waits whose deadline has passed, and lets a listener that rests try again.
///
/// A wait is ended by closing the socket for reading, which makes its event come: the connection is not ours before
/// that. That is safe even when finish() is about to arm it, as nobody but this thread closes a socket with a deadline.
void connection_table::sweep()
{
    const std::int64_t now = now_ms();
    next_sweep_ms_ = now + limits_.sweep_ms;
    for (std::size_t socket = 0; socket < connections_.size(); ++socket) {
        if (!connections_[socket])
            continue;
        const std::int64_t deadline_ms = connections_[socket]->deadline_ms.load(std::memory_order_relaxed);
        if (deadline_ms != 0 && now >= deadline_ms)
            shutdown(static_cast<int>(socket), SHUT_RD);
    }
    if (listener_rests_)
        watch_listener(true);
}

void connection_table::watch_listener(bool watch)
{
    epoll_event event{.events = watch ? EPOLLIN : 0U, .data = {.fd = listener_}};
    [[maybe_unused]] const int error = epoll_ctl(epoll_, EPOLL_CTL_MOD, listener_, &event);
    assert(error == 0);
    listener_rests_ = !watch;
}

connection &connection_table::at(int socket) const
{
    return *connections_[static_cast<std::size_t>(socket)];
}

} // namespace image
