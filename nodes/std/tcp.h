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

/// The settings of a listener, which apply to all its connections. A time of 0 means no limit.
struct listener_settings {
    std::chrono::milliseconds idle{0};
    std::chrono::milliseconds first_byte{0};
    std::chrono::milliseconds message{0};
    std::chrono::milliseconds request{0};
    std::string unix_mode{};
    /// The layer below the protocol, such as TLS; null if there is none. It lives until the process ends.
    flux::stream_layer *layer = nullptr;
    /// Further settings of the module, each with its name: `body: 1048576`.
    std::vector<std::string> others{};

    /// All settings, each with its name. Sources on one address must have the same lines.
    std::vector<std::string> lines() const;
};

/// The connections of a source at an address, with their limits.
struct served {
    flux::endpoint at;
    std::chrono::milliseconds idle;
    std::chrono::milliseconds request;
    std::shared_ptr<flux::connections> all;
};

// Functions for sources. A node behind a source gets null from the first two, because a source keeps its connections
// for itself.

/// The connections of the calling source at this address; null before the source has called `serve_at`.
const served *served_at(const flux::endpoint &at);

/// Starts to listen on the address. `first` says when the source gives a new connection. The process ends with a
/// message if it cannot listen there, or if another source listens there with other settings. Throws `std::bad_alloc`.
const served *serve_at(const flux::endpoint &at, flux::first_given first, const listener_settings &by);

/// Like the nodes `Listen` and `Accept`.
int next_request(const served &from, flux::connection *&connection);
int next_peer(const served &from, flux::connection *&connection);

/// So many new connections that belong together: no other instance of the source accepts any in between. Throws
/// `std::bad_alloc`.
int next_peers(const served &from, std::size_t count, std::vector<flux::connection *> &group);

/// Waits for the next message of any connection, and parses it with `into`. `told` makes the reply to a client that is
/// rejected. A client that begins the protocol `other` speaks it from then on. When something arrives from such a
/// client, `connection` is null. `first` gets each new connection before its first message is read.
int next_message(const served &from, flux::connection *&connection, flux::message_parse &into,
                 flux::last_words *told = nullptr, flux::other_protocol *other = nullptr,
                 flux::first_look *first = nullptr);

/// The node `Messages`, for messages of this class.
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
