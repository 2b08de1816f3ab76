// The nodes of relay.flux. Each copies one direction, in a loop that knows nothing of the other.
#include "relay.flux.h"

#include <array>

// Sends on what comes, until the end: then the other side is told that there is no more.
static void copy(flux::connection &from, flux::connection &to)
{
    std::array<std::byte, 16'384> buffer;
    while (true) {
        const flux::io_result<std::size_t> count = from.receive(buffer);
        const bool came = count.has_value() && *count != 0;
        if (!came || !to.send(std::string_view(reinterpret_cast<const char *>(buffer.data()), *count)).has_value()) {
            break;
        }
    }
    to.end_output();
}

int Ask(Ask_in *in, Ask_out *out)
{
    copy(*in->client, *in->server);
    out->client = in->client;
    out->server = in->server;
    return 0;
}

int Answer(Answer_in *in)
{
    copy(*in->server, *in->client);
    return 0;
}

int Close(Close_in *in)
{
    in->client->close();
    in->server->close();
    return 0;
}
