// Connections: the sockets of the server, between requests and while one is served.
//
// A connection has one owner at a time. While it waits for a request it belongs to the thread in next_request(), which
// is the node Listen; from there to finish() it belongs to the flow that serves it. It changes hands through epoll
// alone: a socket is armed for one event (EPOLLONESHOT), finish() arms it, and whoever gets the event has it. So there
// is no lock here, and none of the calls of a flow can meet another flow's.
//
// A request is handed out when the whole of its head is there. Clients that are slow to send one, or send nothing,
// therefore cost a descriptor and a buffer but never a flow; each wait has a deadline, looked after once in a while
// by next_request(). A client that is slow to read its answer holds its flow for `write_ms` at most.
//
// Requests may be pipelined. Where the next one is in the buffer already, finish() arms the socket for writing too:
// the event then comes at once, or as soon as the client has read enough that an answer can be sent.
//
// A connection is closed as RFC 9112, section 9.6, asks: our side first, then what the client still sends is read and
// dropped for a while, as closing at once would reset the connection and could take the answer with it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <sys/epoll.h>
#include <vector>

namespace image {

/// The longest head of a request, in bytes.
constexpr std::size_t max_head_bytes = 8192;

/// How long things may take, in milliseconds.
struct time_limits {
    /// From the end of an answer to the first byte of the next request.
    int idle_ms = 30'000;
    /// From the first byte of a request, or from the start of the connection, to the end of the request's head.
    int head_ms = 5'000;
    /// For a client to take all of an answer.
    int write_ms = 30'000;
    /// From our closing to the client's.
    int linger_ms = 2'000;
    /// Between two looks for deadlines that have passed.
    int sweep_ms = 1'000;
};

/// A connection, by its socket's number in the table. Its owner alone may touch it, but for `deadline_ms`.
struct connection {
    /// When the wait is over, on the clock of now_ms(); 0 while a flow has the connection.
    std::atomic<std::int64_t> deadline_ms{0};
    /// True once our side is closed.
    bool lingering = false;
    /// How much of `input` is filled.
    std::size_t length = 0;
    /// How much of it belongs to the request being served.
    std::size_t taken = 0;
    /// What was received and is not served yet.
    std::array<char, max_head_bytes> input;
};

/// All connections, and the socket that accepts them.
class connection_table {
public:
    explicit connection_table(const time_limits &limits = {});
    ~connection_table();
    connection_table(const connection_table &) = delete;
    connection_table &operator=(const connection_table &) = delete;

    /// Listens on a numeric IPv4 or IPv6 address; port 0 takes a free one. Throws std::system_error.
    void listen(const std::string &address, const std::string &port);

    /// The port it listens on.
    int port() const;

    /// Waits for a request; called by one thread at a time. Returns 0 and the socket, whose request() is whole, too
    /// long, or cut short by the client or a deadline; or EINTR where a signal came first, or another errno.
    int next_request(int &socket);

    /// What was received on `socket`: the head of its request and perhaps more. Valid until finish().
    std::string_view request(int socket) const;

    /// Says that the first `bytes` of request() are dealt with.
    void take(int socket, std::size_t bytes);

    /// Sends `head` and `body`, waiting for the client at most `write_ms`. Returns 0, or the errno of what went wrong.
    int send(int socket, std::string_view head, std::string_view body) const;

    /// Gives the connection back, to be closed or to wait for its next request. The flow must not use it afterwards.
    void finish(int socket, bool close);

private:
    bool handle(int socket);
    void drain(int socket, connection &client, std::int64_t deadline_ms);
    void accept_all();
    bool adopt(int socket);
    void wait_for(int socket, connection &client, std::uint32_t events, std::int64_t deadline_ms);
    void sweep();
    void watch_listener(bool watch);
    connection &at(int socket) const;

    const time_limits limits_;
    int epoll_ = -1;
    int listener_ = -1;
    bool listener_rests_ = false;
    std::int64_t next_sweep_ms_ = 0;
    std::array<epoll_event, 64> events_{};
    int event_count_ = 0;
    int next_event_ = 0;
    /// By socket number. One that was made stays, for the next connection that gets the number.
    std::vector<std::unique_ptr<connection>> connections_;
};

} // namespace image
