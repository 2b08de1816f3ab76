// The two directions of the proxy, message by message, until one of the two has no more to say.

#include "proxy.flux.h"

#include "flux/log.hpp"
#include "flux/read_message.hpp"

namespace {

using listing_2::cmd;

void hand(flux::connection &from, flux::connection &to)
{
    unsigned count = 0;
    for (auto message = flux::read_message<cmd>(from); message.has_value();
         message = flux::read_message<cmd>(from), ++count) {
        const auto made = cmd::make({.magic_code = (*message).magic_code(), .opcode = (*message).opcode(),
                                     .status_or_v_bucket = (*message).status_or_v_bucket(),
                                     .opaque = (*message).opaque(), .cas = (*message).cas(),
                                     .extras = (*message).extras(), .key = (*message).key(),
                                     .value = (*message).value()});
        const bool same = made.has_value() && *made == *message;
        if (!same || !to.send((*made).wire()).has_value()) {
            flux::log_line(same ? "the other side is gone" : "a message is not what it was");
            break;
        }
    }
    flux::log_line("handed over %u messages", count);
    to.end_output();
}

} // namespace

void HandOn(flux::connection *client, flux::connection *server, flux::connection *&same_client,
            flux::connection *&same_server)
{
    hand(*client, *server);
    same_client = client;
    same_server = server;
}

void HandBack(flux::connection *client, flux::connection *server)
{
    hand(*server, *client);
}

void Close(flux::connection *client, flux::connection *server)
{
    client->close();
    server->close();
}
