#include "flux/io.hpp"

#include "flux/io/blocking_io.hpp"
#include "flux/io/loop_io.hpp"

namespace flux {
namespace {

constinit thread_local loop_io *of_loop = nullptr;

} // namespace

io &running_io() noexcept
{
    return of_loop != nullptr ? *static_cast<io *>(of_loop) : blocking_io();
}

void run_on_io(loop_io *own) noexcept
{
    of_loop = own;
}

} // namespace flux
