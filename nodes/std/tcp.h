// Messages of the program over connections: for each class of messages, the functions of the nodes with a type.
#pragma once

#include "flux/address.hpp"
#include "flux/io/connections.hpp"
#include "flux/io/stream_layer.hpp"
#include "flux/read_message.hpp"

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tcp {

/// What a source states for its listener: it holds for all connections there. A time of 0 is no limit.
struct listener_settings {
    std::chrono::milliseconds idle{0};
    std::chrono::milliseconds first_byte{0};
    std::chrono::milliseconds message{0};
    std::chrono::milliseconds request{0};
    std::string unix_mode{};
    /// What is spoken below all else, such as TLS, which stays; null where nothing is.
    flux::stream_layer *layer = nullptr;
    /// What else the module states, each with its name: `body: 1048576`.
    std::vector<std::string> others{};

    /// All of them, each with its name. Sources on one address state the same.
    std::vector<std::string> lines() const;
};

/// What a source serves at an address.
struct served {
    flux::endpoint at;
    std::chrono::milliseconds idle;
    std::chrono::milliseconds request;
    std::shared_ptr<flux::connections> all;
};

// Functions for sources. A node behind a source gets null from the first two, because a source keeps its connections
// for itself.

/// What the calling source serves at this address; null before it has begun.
const served *served_at(const flux::endpoint &at);

/// Begins to serve, with connections that are first given then. The process ends with a message where it cannot listen
/// there, and where another source listens there with other settings. Throws `std::bad_alloc`.
const served *serve_at(const flux::endpoint &at, flux::first_given first, const listener_settings &by);

/// As the nodes `Listen` and `Accept`.
int next_request(const served &from, flux::connection *&connection);
int next_peer(const served &from, flux::connection *&connection);

/// So many new connections that belong together: no other instance of the source accepts any in between. Throws
/// `std::bad_alloc`.
int next_peers(const served &from, std::size_t count, std::vector<flux::connection *> &group);

/// The next message of any connection: the connection, and `into` as it is then. Clients that are sent away are told
/// the last words. Those that begin the other protocol speak that; whenever something has come there the connection is
/// null. New ones are looked at by `first` before they are read.
int next_message(const served &from, flux::connection *&connection, flux::message_parse &into,
                 flux::last_words *told = nullptr, flux::other_protocol *other = nullptr,
                 flux::first_look *first = nullptr);

/// The node of that name for messages of this class.
template <class Message>
int Messages(const flux::endpoint &at, long idle_ms, long first_byte_ms, long message_ms, long request_ms,
             const char *unix_mode, flux::connection *&connection, Message &message)
{
    using std::chrono::milliseconds;
    const served *from = served_at(at);
    if (from == nullptr) {
        from = serve_at(at, flux::first_given::with_input,
                        {milliseconds(idle_ms), milliseconds(first_byte_ms), milliseconds(message_ms),
                         milliseconds(request_ms), unix_mode});
    }
    if (from == nullptr) {
        return EPERM;
    }
    flux::typed_parse<Message> parse;
    const int error = next_message(*from, connection, parse);
    if (error == 0) {
        message = parse.message();
    }
    return error;
}

/// The node of that name for messages of this class.
template <class Message>
int ReadMessage(flux::connection *connection, flux::connection *&same, Message &message)
{
    same = connection;
    return connection == nullptr ? EBADF : flux::take(flux::read_message<Message>(*connection), message);
}

} // namespace tcp
