#include "flux/cannot_serve.hpp"

#include "flux/io/server_io.hpp"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace flux {

void cannot_serve(const std::string &why)
{
    if (const server_io *const here = server_io::of_this_thread(); here != nullptr && here->on_failure) {
        here->on_failure(why);
        throw server_failed();
    }
    std::fprintf(stderr, "flux: %s\n", why.c_str());
    std::fflush(nullptr);
    ::_exit(EXIT_FAILURE);
}

} // namespace flux
