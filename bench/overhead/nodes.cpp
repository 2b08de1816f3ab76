// The nodes of chain.flux. They are in a file of their own, so that the compiler cannot look through the calls.
#include "chain.flux.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <unistd.h>

static long flows_left = 1'000'000;

void init(int argc, char **argv)
{
    if (argc > 1)
        flows_left = std::atol(argv[1]);
}

int Start(Start_out *out)
{
    if (flows_left == 0) {
        kill(getpid(), SIGTERM);
        pause();
        return EINTR;
    }
    out->value = static_cast<int>(flows_left--);
    return 0;
}

int One(One_in *in, One_out *out) { out->value = in->value; return 0; }
int Two(Two_in *in, Two_out *out) { out->value = in->value; return 0; }
int Three(Three_in *in, Three_out *out) { out->value = in->value; return 0; }
int Four(Four_in *in, Four_out *out) { out->value = in->value; return 0; }
int Five(Five_in *in, Five_out *out) { out->value = in->value; return 0; }
int Six(Six_in *in, Six_out *out) { out->value = in->value; return 0; }
int Seven(Seven_in *in, Seven_out *out) { out->value = in->value; return 0; }
int Eight(Eight_in *in, Eight_out *out) { out->value = in->value; return 0; }
int Nine(Nine_in *in, Nine_out *out) { out->value = in->value; return 0; }
int Ten(Ten_in *) { return 0; }
