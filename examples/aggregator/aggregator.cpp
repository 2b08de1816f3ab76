// The nodes of aggregator.flux. Nothing here knows of time: aggregator.flux says how long a server may take.
#include "aggregator.flux.h"

#include "flux/log.hpp"

#include <cerrno>
#include <cstring>

int Apologise(Apologise_in *in, Apologise_out *out)
{
    flux::log("%s: %s", in->upstream, std::strerror(in->error));
    out->answer = in->error == ETIMEDOUT ? "(slow)" : "(dead)";
    return 0;
}

int Merge(Merge_in *in, Merge_out *out)
{
    out->line = in->one + " | " + in->two;
    return 0;
}
