#include "flux/io/send_file.hpp"

#include <algorithm>
#include <sys/sendfile.h>

namespace flux {

io_result<std::size_t> try_send_file(const descriptor &to, const file_part &part) noexcept
{
    // So much at a time, that a flow looks at its deadline and lets others go first.
    constexpr std::size_t most = std::size_t{1} << 20;
    while (true) {
        off_t offset = part.offset;
        const ssize_t count = ::sendfile(to.get(), part.descriptor, &offset, std::min(part.size, most));
        if (count > 0) {
            return static_cast<std::size_t>(count);
        }
        if (count == 0 || errno != EINTR) {
            return unexpected(count == 0 ? ENODATA : errno);
        }
    }
}

} // namespace flux
