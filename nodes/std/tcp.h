// Messages of the program over connections: for each class of messages, the functions of the nodes with a type.
#pragma once

#include "flux/address.hpp"
#include "flux/io/connections.hpp"
#include "flux/io/stream_layer.hpp"
#include "flux/read_message.hpp"

#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

namespace tcp {

/// What is spoken at this address below all else, such as TLS; null where nothing is.
using layer_of = flux::stream_layer *(*)(const flux::endpoint &at);

/// What holds for the connections of a source of requests or messages. A time of 0 is no limit.
struct message_limits {
    std::chrono::milliseconds idle;
    std::chrono::milliseconds first_byte;
    std::chrono::milliseconds message;
    std::chrono::milliseconds request;
    layer_of layer = nullptr;
};

// Functions for sources. In a node behind a source each of them fails with EPERM, because a source keeps its
// connections for itself.

/// As the nodes of these names, perhaps over a layer.
int next_request(const flux::endpoint &at, const message_limits &limits, const char *unix_mode,
                 flux::connection *&connection);
int next_peer(const flux::endpoint &at, std::chrono::milliseconds idle, const char *unix_mode,
              flux::connection *&connection, layer_of layer = nullptr);

/// So many new connections that belong together: no other instance of the source accepts any in between. Throws
/// `std::bad_alloc`.
int next_peers(const flux::endpoint &at, std::chrono::milliseconds idle, const char *unix_mode, std::size_t count,
               std::vector<flux::connection *> &group);

/// The next message of any connection at this address: the connection, and `into` as it is then. Clients that are sent
/// away are told the last words. Those that begin the other protocol speak that; whenever something has come there the
/// connection is null. New ones are looked at by `first` before they are read.
int next_message(const flux::endpoint &at, const message_limits &limits, const char *unix_mode,
                 flux::connection *&connection, flux::message_parse &into, flux::last_words *told = nullptr,
                 flux::other_protocol *other = nullptr, flux::first_look *first = nullptr);

/// The node of that name for messages of this class.
template <class Message>
int NextMessage(long idle_ms, long first_byte_ms, long message_ms, long request_ms, const char *unix_mode,
                const flux::endpoint &at, flux::connection *&connection, Message &message)
{
    using std::chrono::milliseconds;
    flux::typed_parse<Message> parse;
    const message_limits limits{milliseconds(idle_ms), milliseconds(first_byte_ms), milliseconds(message_ms),
                                milliseconds(request_ms)};
    const int error = next_message(at, limits, unix_mode, connection, parse);
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
