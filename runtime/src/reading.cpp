#include "flux/reading.hpp"

#include "flux/error.hpp"
#include "flux/flow/failure_counts.hpp"
#include "flux/log.hpp"
#include "flux/strategy/source.hpp"

#include <cerrno>
#include <new>
#include <string_view>

namespace flux {
namespace {

// Why a call fails that has received so much of what it is to give.
io_result<std::string> fail(connection &from, const std::string &received, const io_result<void> &last)
{
    if (last.has_value()) {
        const int clean_end = from.accepted() ? end_of_input : ENODATA;
        return unexpected(received.empty() ? clean_end : ECONNRESET);
    }
    from.put_back(std::as_bytes(std::span(received)));
    return unexpected(last.error());
}

std::string_view text_of(std::span<const std::byte> bytes) noexcept
{
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

} // namespace

io_result<std::string> read_line(connection &from, std::size_t most, moment deadline)
{
    std::string line;
    bool is_whole = false;
    // The last byte may be a carriage return, which does not count.
    while (!is_whole && (line.empty() || line.size() - 1 <= most)) {
        const std::size_t before = line.size();
        const io_result<void> received = from.receive_by(
            [&](std::span<const std::byte> there) {
                const std::string_view text = text_of(there);
                const std::size_t end = text.find('\n');
                is_whole = end != std::string_view::npos;
                line.append(text.substr(0, end));
                return is_whole ? end + 1 : text.size();
            },
            deadline);
        if (!received.has_value() || (line.size() == before && !is_whole)) {
            return fail(from, line, received);
        }
    }
    if (is_whole && line.ends_with('\r')) {
        line.pop_back();
    }
    return is_whole && line.size() <= most ? io_result<std::string>(std::move(line)) : unexpected(EMSGSIZE);
}

io_result<std::string> read_exactly(connection &from, std::size_t count, moment deadline)
{
    std::string bytes;
    while (bytes.size() < count) {
        const std::size_t before = bytes.size();
        const io_result<void> received = from.receive_by(
            [&](std::span<const std::byte> there) {
                const std::string_view wanted = text_of(there).substr(0, count - bytes.size());
                bytes.append(wanted);
                return wanted.size();
            },
            deadline);
        if (!received.has_value() || bytes.size() == before) {
            return fail(from, bytes, received);
        }
    }
    return bytes;
}

void log_wrong_message(const connection &from, const message_parse &as) noexcept
{
    const node_number node = running_flow->position();
    const char *const name = running_flow->from().node_name(node);
    try {
        log_rarely_each(failure_counts::key_of(node, EBADMSG), "%s: what %s sent is no %s: %s", name,
                        from.peer().text().c_str(), as.facts().name, as.fault().c_str());
    } catch (const std::bad_alloc &) {
        log_rarely_each(failure_counts::key_of(node, EBADMSG), "%s: what a peer sent is no %s", name, as.facts().name);
    }
}

} // namespace flux
