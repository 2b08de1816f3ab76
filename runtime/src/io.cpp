#include "flux/io.hpp"

#include "flux/io/blocking_io.hpp"
#include "flux/io/loop_io.hpp"
#include "flux/io/loop_owned.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <unistd.h>

namespace flux {
namespace {

// Some of the part's bytes, at least one.
io_result<std::size_t> read_part(const file_part &part, std::span<std::byte> into) noexcept
{
    while (true) {
        const ssize_t count = ::pread(part.descriptor, into.data(), std::min(into.size(), part.size), part.offset);
        if (count > 0) {
            return static_cast<std::size_t>(count);
        }
        if (count == 0 || errno != EINTR) {
            return unexpected(count == 0 ? ENODATA : errno);
        }
    }
}

} // namespace

io_result<void> stream::do_send_file(std::string_view before, file_part part, moment deadline) noexcept
{
    // Not larger, as it is on the stack of a flow.
    std::array<std::byte, 16 * 1024> piece;
    do {
        io_result<std::size_t> count = part.size == 0 ? io_result<std::size_t>(0) : read_part(part, piece);
        if (!count.has_value()) {
            return unexpected(count.error());
        }
        iovec both[] = {{const_cast<char *>(before.data()), before.size()}, {piece.data(), *count}};
        if (io_result<void> sent = do_send(both, deadline); !sent.has_value()) {
            return sent;
        }
        before = {};
        part = part.from(*count);
        if (const int error = part.size == 0 ? 0 : refill_io_budget(deadline); error != 0) {
            return unexpected(error);
        }
    } while (part.size != 0);
    return {};
}

io &running_io() noexcept
{
    return io_of_running_loop != nullptr ? *static_cast<io *>(io_of_running_loop) : blocking_io();
}

void run_on_io(loop_io *own) noexcept
{
    io_of_running_loop = own;
    running_loop_catches_calls = own != nullptr && own->descriptors() != nullptr;
}

} // namespace flux
