// The nodes of NAME.flux: plain functions that know nothing of threads or locks. Flux writes NAME.flux.h.
#include "NAME.flux.h"

static int lines;

int Count(Count_in *in, Count_out *out)
{
    out->line = std::to_string(++lines) + ": " + in->line;
    return 0;
}
