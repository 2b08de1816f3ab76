#include "flux/reading.hpp"

#include "flux/error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

namespace flux {
namespace {

/// As much is received at a time. What is put back is copied, so it is no more than a few lines.
using buffer = std::array<std::byte, 4096>;

// Why a call fails that has received so much of what it is to give.
io_result<std::string> fail(connection &from, const std::string &received, const io_result<std::size_t> &last)
{
    if (last.has_value()) {
        const int clean_end = from.accepted() ? end_of_input : ENODATA;
        return unexpected(received.empty() ? clean_end : ECONNRESET);
    }
    from.put_back(std::as_bytes(std::span(received)));
    return unexpected(last.error());
}

} // namespace

io_result<std::string> read_line(connection &from, std::size_t most, moment deadline)
{
    std::string line;
    while (true) {
        buffer some;
        const io_result<std::size_t> count = from.receive(some, deadline);
        if (!count.has_value() || *count == 0) {
            return fail(from, line, count);
        }
        const std::string_view text(reinterpret_cast<const char *>(some.data()), *count);
        const std::size_t end = text.find('\n');
        line.append(text.substr(0, end));
        if (end != std::string_view::npos) {
            from.put_back(std::span(some).subspan(end + 1, *count - end - 1));
            if (line.ends_with('\r')) {
                line.pop_back();
            }
            return line.size() <= most ? io_result<std::string>(std::move(line)) : unexpected(EMSGSIZE);
        }
        // The last byte may be a carriage return, which does not count.
        if (line.size() - 1 > most) {
            return unexpected(EMSGSIZE);
        }
    }
}

io_result<std::string> read_exactly(connection &from, std::size_t count, moment deadline)
{
    std::string bytes;
    while (bytes.size() < count) {
        buffer some;
        const std::size_t wanted = std::min(some.size(), count - bytes.size());
        const io_result<std::size_t> received = from.receive(std::span(some).first(wanted), deadline);
        if (!received.has_value() || *received == 0) {
            return fail(from, bytes, received);
        }
        bytes.append(reinterpret_cast<const char *>(some.data()), *received);
    }
    return bytes;
}

} // namespace flux
