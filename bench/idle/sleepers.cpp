// The source of sleepers.flux: there is always another flow to start, until the bound of flows in progress.
#include "sleepers.flux.h"

int Make(Make_out *out)
{
    static thread_local int made = 0;
    out->number = ++made;
    return 0;
}
