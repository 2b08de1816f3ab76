#include "flux/server/init.hpp"

// What the program may define. Should it return an int there, nobody reads that.
[[gnu::weak]] void init(int argc, char **argv);

namespace flux {

bool has_init() noexcept
{
    return init != nullptr;
}

void call_init(int argc, char **argv)
{
    if (has_init()) {
        init(argc, argv);
    }
}

} // namespace flux
