/// \file
/// The admin interface: a server can be asked how it runs, by HTTP/1.1, at an address of its own.
///
/// It has a thread of its own, so it answers when all others are busy or stuck, and it takes nothing of what flows
/// have: no loop, no runner. Each connection has one request. They are few, have little time, and their requests are
/// short, so nobody who comes there can take much of the server.
///
/// The socket is one of the server's public sockets (`io/public_sockets.hpp`): a new process that takes over has it,
/// and no request is refused meanwhile.
#pragma once

#include "flux/address.hpp"
#include "flux/admin/admin_request.hpp"
#include "flux/io/socket.hpp"
#include "flux/moment.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace flux {

/// An answer.
struct admin_answer {
    /// Of HTTP: 200, 404.
    int status;
    /// The media type of the body.
    std::string type;
    std::string body;
};

/// Gives the answer to a request with the method GET or HEAD, or, where only this machine reaches the interface, POST. Called on the interface's thread. What it throws is answered with
/// status 500.
using admin_pages = std::function<admin_answer(const admin_request &)>;

/// The interface, from its start to its end.
class admin_server
{
  public:
    /// So many connections are served at once; others wait to be accepted.
    static constexpr std::size_t most_connections = 16;
    /// A connection has so much time for its request, its answer and its end together.
    static constexpr std::chrono::milliseconds usual_patience{5'000};

    /// Listens at this address, for the calling thread's server. Throws `std::system_error` where it cannot, and
    /// `std::bad_alloc`.
    admin_server(const address &at, admin_pages pages, std::chrono::milliseconds patience = usual_patience);
    /// Ends at once: who is being served is cut off.
    ~admin_server();
    admin_server(const admin_server &) = delete;
    admin_server &operator=(const admin_server &) = delete;

    /// Where it listens; the port is known where any was asked for.
    const address &at() const noexcept { return at_; }

    /// Whether only this machine reaches it.
    bool is_local() const noexcept { return is_local_; }

  private:
    /// A client, and how far it has come.
    struct client {
        enum class stage { asks, is_answered, ends };

        descriptor socket;
        moment until;
        stage at = stage::asks;
        std::string bytes = {};
        std::size_t sent = 0;
    };

    void run() noexcept;
    void accept_one() noexcept;
    bool go_on(client &with);
    bool receive(client &from);
    bool send(client &to) noexcept;
    std::string answer_to(const admin_reading &read) const;

    const admin_pages pages_;
    const std::chrono::milliseconds patience_;
    public_socket listener_;
    const address at_;
    const bool is_local_;
    // Readable when the thread is to end.
    descriptor ended_;
    std::vector<client> clients_;
    // No peer is accepted until then, as there are no descriptors for them.
    moment accepts_from_;
    std::thread thread_;
};

} // namespace flux
