// What the author of types.flux has beside it: a header that names the program's types.
#pragma once

#include "types.flux.types.h"

inline bool is_large(const hit &value)
{
    return value.bytes > 1000 && value != hit{"", 2000, method::put};
}
