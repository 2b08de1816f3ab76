// What is told of a file, and of a path at which there is none.

#include "found.flux.h"

#include <cstring>

int Tell(Tell_in *in, Tell_out *out)
{
    const files::file &file = in->file;
    out->before = std::to_string(file.size()) + ' ' + file.type() + ' ' + file.tag() +
                  (file.is_in_memory() ? " in memory\n" : " open\n");
    return 0;
}

int Say(Say_in *in, Say_out *out)
{
    out->connection = in->connection;
    out->bytes = std::string("error ") + strerrorname_np(in->error) + '\n';
    return 0;
}
