// What a client asks of its accounts: four words.

#include "accounts.flux.h"

#include <cerrno>
#include <sstream>

int Parse(Parse_in *in, Parse_out *out)
{
    std::istringstream words(in->line);
    return words >> out->verb >> out->from >> out->to >> out->amount ? 0 : EINVAL;
}
