// Connections over TCP and Unix sockets, through the I/O of whatever runs the flow.

#include "tcp.flux.h"

#include "tcp.h"

#include "flux/cannot_serve.hpp"
#include "flux/io/connections.hpp"
#include "flux/io/server_io.hpp"
#include "flux/log.hpp"
#include "flux/process/quantity.hpp"
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

// What listens there, and what its sources state.
struct opened {
    std::unique_ptr<flux::listener> listener;
    std::vector<std::string> settings;
};

// Sources that listen on one address share its connections, so all of these have the same limits.
void must_be_same(const flux::endpoint &at, const std::vector<std::string> &known, const std::vector<std::string> &own)
{
    const auto [one, other] = std::ranges::mismatch(known, own);
    if (one == known.end() && other == own.end()) {
        return;
    }
    const std::string first = one == known.end() ? "nothing more" : *one;
    const std::string second = other == own.end() ? "nothing more" : *other;
    give_up(at, ("two sources listen there, and state different settings: `" + first + "` and `" + second +
                 "`; give both the same, or another address")
                    .c_str());
}

void must_be_durations(const flux::endpoint &at, const listener_settings &by)
{
    for (const milliseconds each : {by.idle, by.first_byte, by.message, by.request}) {
        if (each.count() < 0 || each.count() > flux::longest_duration) {
            give_up(at, "each of its limits is to be a duration from 0 to 52560000m");
        }
    }
}

// What listens there, which is opened by the first source that asks for it. Port 0 is another port for each source with
// settings of its own.
flux::listener &listener_at(const flux::endpoint &at, flux::first_given first, const listener_settings &by)
{
    static std::mutex opening;
    // They end with the server, which may be gone when the statics of the process are destroyed.
    static auto &listeners = *new std::map<std::string, opened>;
    const std::optional<flux::address> address = at.at();
    if (!address) {
        give_up(at, "it is to be a port from 0 to 65535, HOST:PORT in numbers, or unix:PATH");
    }
    std::vector<std::string> settings = by.lines();
    settings.emplace_back(first == flux::first_given::at_once ? "connections at once" : "connections with input");
    const std::lock_guard<std::mutex> alone(opening);
    std::string place = address->text();
    if (place.ends_with(":0")) {
        for (const std::string &each : settings) {
            place += '\n' + each;
        }
    }
    opened &known = listeners[place];
    if (known.listener != nullptr) {
        must_be_same(at, known.settings, settings);
        return *known.listener;
    }
    auto listener = flux::running_io().listen(*address);
    if (!listener.has_value()) {
        give_up(at, std::strerror(listener.error()));
    }
    if (listeners.size() == 1) {
        flux::server_io::current()->when_ended([] { listeners.clear(); });
    }
    known = {*std::move(listener), std::move(settings)};
    const flux::address local = known.listener->local();
    if (local.storage.ss_family == AF_UNIX && !by.unix_mode.empty()) {
        let_in(at, local, by.unix_mode);
    }
    flux::log_line("listening on %s", local.text().c_str());
    return *known.listener;
}

// When what has begun by then has had so much time.
flux::moment end_of(flux::moment begin, milliseconds limit)
{
    return limit.count() == 0 ? flux::never : begin + limit;
}

// As the calling source serves the address; null where it is none. Out of the way of all later calls.
[[gnu::noinline]] const served *begin_at(const flux::endpoint &at, flux::first_given first, long idle_ms,
                                         long first_byte_ms, long message_ms, long request_ms, const char *unix_mode)
{
    return serve_at(at, first,
                    {milliseconds(idle_ms), milliseconds(first_byte_ms), milliseconds(message_ms),
                     milliseconds(request_ms), unix_mode});
}

} // namespace

std::vector<std::string> listener_settings::lines() const
{
    const auto line = [](const char *name, milliseconds time) {
        return std::string(name) + ": " + std::to_string(time.count()) + "ms";
    };
    std::vector<std::string> all = others;
    for (std::string each : {line("idle", idle), line("first_byte", first_byte), line("message", message),
                             line("request", request), "unix_mode: " + unix_mode}) {
        all.push_back(std::move(each));
    }
    return all;
}

const served *served_at(const flux::endpoint &at)
{
    if (flux::running_flow->in_progress()) {
        return nullptr;
    }
    for (const served &each : flux::running_flow->from().state<std::vector<served>>()) {
        if (each.at == at) {
            return &each;
        }
    }
    return nullptr;
}

const served *serve_at(const flux::endpoint &at, flux::first_given first, const listener_settings &by)
{
    if (flux::running_flow->in_progress()) {
        return nullptr;
    }
    must_be_durations(at, by);
    flux::listener &listener = listener_at(at, first, by);
    flux::source &source = flux::running_flow->from();
    const flux::silence_limits silence{by.idle, by.first_byte, by.message};
    const auto all = std::make_shared<flux::connections>(flux::running_io(), listener, first, silence, by.layer);
    auto &known = source.state<std::vector<served>>();
    known.push_back({at, by.idle, by.request, all});
    source.when_stopped([all] { all->end(); });
    return &known.back();
}

int next_request(const served &from, flux::connection *&connection)
{
    if (const int error = flux::take(from.all->next(), connection); error != 0) {
        return error;
    }
    // What it has asked had come by the last look.
    flux::running_flow->set_deadline(end_of(flux::running_io().last_look(), from.request));
    return 0;
}

int Listen(Listen_in *in, Listen_out *out)
{
    const served *from = served_at(in->at);
    if (from == nullptr) {
        from = begin_at(in->at, flux::first_given::with_input, in->idle, in->first_byte, in->message, in->request,
                        in->unix_mode);
    }
    return from == nullptr ? EPERM : next_request(*from, out->connection);
}

int next_message(const served &from, flux::connection *&connection, flux::message_parse &into, flux::last_words *told,
                 flux::other_protocol *other, flux::first_look *first)
{
    if (const int error = flux::take(from.all->next(into, told, other, first), connection); error != 0) {
        return error;
    }
    if (connection != nullptr) {
        flux::running_flow->set_deadline(end_of(flux::running_io().last_look(), from.request));
    }
    return 0;
}

int next_peer(const served &from, flux::connection *&connection)
{
    if (const int error = flux::take(from.all->next(), connection); error != 0) {
        return error;
    }
    connection->limit_waits(from.idle);
    return 0;
}

int next_peers(const served &from, std::size_t count, std::vector<flux::connection *> &group)
{
    if (const int error = flux::take(from.all->next_group(count, group)); error != 0) {
        return error;
    }
    for (flux::connection *const each : group) {
        each->limit_waits(from.idle);
    }
    return 0;
}

int Accept(Accept_in *in, Accept_out *out)
{
    const served *from = served_at(in->at);
    if (from == nullptr) {
        from = begin_at(in->at, flux::first_given::at_once, in->idle, 0, 0, 0, in->unix_mode);
    }
    return from == nullptr ? EPERM : next_peer(*from, out->connection);
}

int Open(Open_in *in, Open_out *out)
{
    const std::optional<flux::address> to = flux::parse_address(in->to);
    if (!to) {
        return EADDRNOTAVAIL;
    }
    out->client = in->client;
    return flux::take(flux::connect(*to, end_of(flux::running_io().now(), milliseconds(in->limit_ms))), out->server);
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
