// The source of commands: `tcp.Messages`, which also answers protocol errors.

#include "redis.flux.h"

#include "resp.h"
#include "tcp.h"

#include <cerrno>
#include <chrono>
#include <string_view>

namespace {

class refusals final : public flux::last_words
{
  public:
    std::string_view to(const flux::connection &, int error, const flux::message_parse &wanted) noexcept override
    {
        return error == EBADMSG ? resp::protocol_error(wanted) : "";
    }
};

refusals told;

} // namespace

int NextCommand(const flux::endpoint &at, long idle_ms, long first_byte_ms, long message_ms, long request_ms,
                flux::connection *&connection, resp::command &message)
{
    using std::chrono::milliseconds;
    const tcp::served *from = tcp::served_at(at);
    if (from == nullptr) {
        from = tcp::serve_at(at, flux::first_given::with_input,
                             {milliseconds(idle_ms), milliseconds(first_byte_ms), milliseconds(message_ms),
                              milliseconds(request_ms)});
    }
    if (from == nullptr) {
        return EPERM;
    }
    flux::typed_parse<resp::command> parse;
    const int error = tcp::next_message(*from, connection, parse, &told);
    if (error == 0) {
        message = parse.message();
    }
    return error;
}
