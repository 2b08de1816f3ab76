// What a line asks for.
#pragma once

#include <string>

struct command {
    std::string verb, key, value;
};

bool IsGet(const command &what);
