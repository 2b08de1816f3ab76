// The nodes of aggregator.flux. Nothing here knows of time: aggregator.flux says how long a server may take.
#include "aggregator.flux.h"

#include "flux/log.hpp"
#include "flux/reading.hpp"

#include <cerrno>
#include <cstring>

int Ask(Ask_in *in, Ask_out *out)
{
    const auto at = flux::parse_address(in->upstream);
    flux::connection *server = nullptr;
    int error = at ? flux::take(flux::connect(*at), server) : EADDRNOTAVAIL;
    if (error == 0) {
        error = flux::take(server->send(in->line + "\n"));
        error = error == 0 ? flux::take(flux::read_line(*server, 65'536), out->answer) : error;
        server->close();
    }
    return error;
}

int Apologise(Apologise_in *in, Apologise_out *out)
{
    flux::log("%s: %s", in->upstream, std::strerror(in->error));
    out->answer = in->error == ETIMEDOUT ? "(slow)" : "(dead)";
    return 0;
}

int Merge(Merge_in *in, Merge_out *out)
{
    out->reply = in->one + " | " + in->two;
    out->connection = in->connection;
    return 0;
}
