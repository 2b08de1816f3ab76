// The nodes: in a file of their own, so that the compiler cannot look through the calls.
#include "chain.flux.h"

#include <atomic>
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
        return 1;
    }
    out->value = static_cast<int>(flows_left--);
    return 0;
}

#define EMPTY_NODE(Name)                 \
    int Name(Name##_in *in, Name##_out *out) \
    {                                    \
        out->value = in->value;          \
        return 0;                        \
    }

EMPTY_NODE(One)
EMPTY_NODE(Two)
EMPTY_NODE(Three)
EMPTY_NODE(Four)
EMPTY_NODE(Five)
EMPTY_NODE(Six)
EMPTY_NODE(Seven)
EMPTY_NODE(Eight)
EMPTY_NODE(Nine)

int Ten(Ten_in *)
{
    return 0;
}
