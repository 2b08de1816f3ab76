/// \file
/// How the programs here meet a refusal: they have nothing else to do then.
#pragma once

#include <cstdio>
#include <cstdlib>

/// Ends the program where something is refused.
inline int checked(int result, const char *what)
{
    if (result < 0) {
        std::perror(what);
        std::exit(1);
    }
    return result;
}
