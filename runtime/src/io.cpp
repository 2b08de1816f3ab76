#include "flux/io.hpp"

#include "flux/io/blocking_io.hpp"
#include "flux/io/loop_io.hpp"
#include "flux/io/loop_owned.hpp"

namespace flux {

io &running_io() noexcept
{
    return io_of_running_loop != nullptr ? *static_cast<io *>(io_of_running_loop) : blocking_io();
}

void run_on_io(loop_io *own) noexcept
{
    io_of_running_loop = own;
}

} // namespace flux
