// The nodes of names.flux.
#include "names.flux.h"

#include "flux/log.hpp"
#include "flux/reading.hpp"

#include <cstring>

int Exchange(Exchange_in *in, Exchange_out *out)
{
    out->connection = in->client;
    const auto line = flux::read_line(*in->client, 1000);
    if (!line.has_value()) {
        return line.error();
    }
    if (in->server == nullptr) {
        out->bytes = "none\n";
        return 0;
    }
    int error = flux::take(in->server->send(*line + "\n"));
    error = error == 0 ? flux::take(flux::read_line(*in->server, 1000), out->bytes) : error;
    out->bytes += "\n";
    in->server->close();
    return error;
}

int Say(Say_in *in, Say_out *out)
{
    flux::log("%s", strerrorname_np(in->error));
    out->client = in->client;
    out->server = nullptr;
    return 0;
}
