// Connections over TCP and Unix sockets, through the I/O of whatever runs the flow.

#include "tcp.flux.h"

#include "tcp.h"

#include "flux/cannot_serve.hpp"
#include "flux/io/connections.hpp"
#include "flux/io/server_io.hpp"
#include "flux/log.hpp"
#include "flux/reading.hpp"
#include "flux/send_message.hpp"
#include "flux/strategy/source.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <sys/stat.h>
#include <vector>

namespace tcp {
namespace {

using std::chrono::milliseconds;

// A server that cannot listen must not look as if it did.
[[noreturn]] void give_up(const flux::endpoint &at, const char *reason)
{
    flux::cannot_serve("tcp.Listen: cannot listen on " + at.text() + ": " + reason);
}

// A new Unix socket is its owner's alone until now, so nobody has connected who may not.
void let_in(const flux::endpoint &at, const flux::address &local, std::string_view mode)
{
    constexpr std::string_view mark = "unix:";
    unsigned bits = 0;
    const auto [end, problem] = std::from_chars(mode.data(), mode.data() + mode.size(), bits, 8);
    if (problem != std::errc() || end != mode.data() + mode.size() || bits > 0777) {
        give_up(at, "its mode is to be as chmod takes it, from 0 to 777");
    }
    const std::string path = local.text().substr(mark.size());
    // In a simulated world there is no file.
    if (::chmod(path.c_str(), bits) != 0 && errno != ENOENT) {
        give_up(at, std::strerror(errno));
    }
}

// What listens there, which is opened by the first source that asks for it.
flux::listener &listener_at(const flux::endpoint &at, const char *unix_mode)
{
    static std::mutex opening;
    // They end with the server, which may be gone when the statics of the process are destroyed.
    static auto &listeners = *new std::map<std::string, std::unique_ptr<flux::listener>>;
    const std::optional<flux::address> address = at.at();
    if (!address) {
        give_up(at, "it is to be a port from 0 to 65535, HOST:PORT in numbers, or unix:PATH");
    }
    const std::lock_guard<std::mutex> alone(opening);
    std::unique_ptr<flux::listener> &known = listeners[address->text()];
    if (known == nullptr) {
        auto opened = flux::running_io().listen(*address);
        if (!opened.has_value()) {
            give_up(at, std::strerror(opened.error()));
        }
        if (listeners.size() == 1) {
            flux::server_io::current()->when_ended([] { listeners.clear(); });
        }
        known = *std::move(opened);
        const flux::address local = known->local();
        if (local.storage.ss_family == AF_UNIX && *unix_mode != '\0') {
            let_in(at, local, unix_mode);
        }
        flux::log_line("listening on %s", local.text().c_str());
    }
    return *known;
}

/// Connections of one source, or of one instance of it.
struct served {
    flux::endpoint at;
    std::shared_ptr<flux::connections> all;
};

// Once for each of them: out of the way of all later calls.
[[gnu::noinline]] flux::connections &serve_at(const flux::endpoint &at, const char *unix_mode, flux::first_given first,
                                              flux::silence_limits limits, layer_of layer)
{
    flux::stream_layer *const below = layer == nullptr ? nullptr : layer(at);
    flux::source &by = flux::running_flow->from();
    flux::listener &listener = listener_at(at, unix_mode);
    const auto opened = std::make_shared<flux::connections>(flux::running_io(), listener, first, limits, below);
    by.state<std::vector<served>>().push_back({at, opened});
    by.when_stopped([opened] { opened->end(); });
    return *opened;
}

// Those that the source has there; null at its first call.
flux::connections *served_at(const flux::endpoint &at)
{
    for (const served &each : flux::running_flow->from().state<std::vector<served>>()) {
        if (each.at == at) {
            return each.all.get();
        }
    }
    return nullptr;
}

// The same; of connections that are given as soon as they are there.
flux::connections &peers_at(const flux::endpoint &at, milliseconds idle, const char *unix_mode, layer_of layer)
{
    flux::connections *const known = served_at(at);
    return known != nullptr ? *known
                            : serve_at(at, unix_mode, flux::first_given::at_once, {idle, milliseconds(0)}, layer);
}

// When what has begun by then has had so much time.
flux::moment end_of(flux::moment begin, long limit_ms)
{
    return limit_ms == 0 ? flux::never : begin + milliseconds(limit_ms);
}

} // namespace

int next_request(const flux::endpoint &at, const message_limits &limits, const char *unix_mode,
                 flux::connection *&connection)
{
    if (flux::running_flow->in_progress()) {
        return EPERM;
    }
    flux::connections *all = served_at(at);
    if (all == nullptr) {
        const flux::silence_limits silence{limits.idle, limits.first_byte, limits.message};
        all = &serve_at(at, unix_mode, flux::first_given::with_input, silence, limits.layer);
    }
    if (const int error = flux::take(all->next(), connection); error != 0) {
        return error;
    }
    // What it has asked had come by the last look.
    flux::running_flow->set_deadline(end_of(flux::running_io().last_look(), limits.request.count()));
    return 0;
}

int NextRequest(NextRequest_in *in, NextRequest_out *out)
{
    const message_limits limits{milliseconds(in->idle_ms), milliseconds(in->first_byte_ms),
                                milliseconds(in->message_ms), milliseconds(in->request_ms)};
    return next_request(in->at, limits, in->unix_mode, out->connection);
}

int next_message(const flux::endpoint &at, const message_limits &limits, const char *unix_mode,
                 flux::connection *&connection, flux::message_parse &into, flux::last_words *told,
                 flux::other_protocol *other, flux::first_look *first)
{
    if (flux::running_flow->in_progress()) {
        return EPERM;
    }
    flux::connections *all = served_at(at);
    if (all == nullptr) {
        const flux::silence_limits silence{limits.idle, limits.first_byte, limits.message};
        all = &serve_at(at, unix_mode, flux::first_given::with_input, silence, limits.layer);
    }
    if (const int error = flux::take(all->next(into, told, other, first), connection); error != 0) {
        return error;
    }
    if (connection != nullptr) {
        flux::running_flow->set_deadline(end_of(flux::running_io().last_look(), limits.request.count()));
    }
    return 0;
}

int next_peer(const flux::endpoint &at, milliseconds idle, const char *unix_mode, flux::connection *&connection,
              layer_of layer)
{
    if (flux::running_flow->in_progress()) {
        return EPERM;
    }
    if (const int error = flux::take(peers_at(at, idle, unix_mode, layer).next(), connection); error != 0) {
        return error;
    }
    connection->limit_waits(idle);
    return 0;
}

int next_peers(const flux::endpoint &at, milliseconds idle, const char *unix_mode, std::size_t count,
               std::vector<flux::connection *> &group)
{
    if (flux::running_flow->in_progress()) {
        return EPERM;
    }
    if (const int error = flux::take(peers_at(at, idle, unix_mode, nullptr).next_group(count, group)); error != 0) {
        return error;
    }
    for (flux::connection *const each : group) {
        each->limit_waits(idle);
    }
    return 0;
}

int NextPeer(NextPeer_in *in, NextPeer_out *out)
{
    return next_peer(in->at, milliseconds(in->idle_ms), in->unix_mode, out->connection);
}

int Open(Open_in *in, Open_out *out)
{
    const std::optional<flux::address> to = flux::parse_address(in->to);
    if (!to) {
        return EADDRNOTAVAIL;
    }
    out->client = in->client;
    return flux::take(flux::connect(*to, end_of(flux::running_io().now(), in->limit_ms)), out->server);
}

int Read(Read_in *in, Read_out *out)
{
    if (in->connection == nullptr) {
        return EBADF;
    }
    out->connection = in->connection;
    return flux::take(in->connection->receive_by([=](std::span<const std::byte> there) {
        const std::size_t count = std::min(in->most, there.size());
        out->bytes = std::string(reinterpret_cast<const char *>(there.data()), count);
        return count;
    }));
}

int ReadLine(ReadLine_in *in, ReadLine_out *out)
{
    out->connection = in->connection;
    return in->connection == nullptr ? EBADF : flux::take(flux::read_line(*in->connection, in->most), out->line);
}

int ReadExactly(ReadExactly_in *in, ReadExactly_out *out)
{
    out->connection = in->connection;
    return in->connection == nullptr ? EBADF : flux::take(flux::read_exactly(*in->connection, in->count), out->bytes);
}

int Send(Send_in *in, Send_out *out)
{
    out->connection = in->connection;
    return in->connection == nullptr ? EBADF : flux::take(in->connection->send(in->bytes));
}

int SendLine(SendLine_in *in, SendLine_out *out)
{
    out->connection = in->connection;
    char end = '\n';
    iovec parts[] = {{in->line.data(), in->line.size()}, {&end, 1}};
    return in->connection == nullptr ? EBADF : flux::take(in->connection->send(parts));
}

int SendMessage(SendMessage_in *in, SendMessage_out *out)
{
    out->connection = in->connection;
    return in->connection == nullptr ? EBADF : flux::take(flux::send_message(*in->connection, in->reply));
}

int Reply(Reply_in *in)
{
    if (in->connection == nullptr) {
        return EBADF;
    }
    const int error = flux::take(flux::send_message(*in->connection, in->reply));
    return error != 0 ? error : flux::take(in->connection->give_back());
}

int Return(Return_in *in)
{
    return in->connection == nullptr ? EBADF : flux::take(in->connection->give_back());
}

int Close(Close_in *in)
{
    return in->connection == nullptr ? EBADF : flux::take(in->connection->close());
}

} // namespace tcp
