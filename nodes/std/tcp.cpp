// Connections over TCP, through the I/O of whatever runs the flow.

#include "tcp.flux.h"

#include "flux/io/connections.hpp"
#include "flux/log.hpp"
#include "flux/strategy/source.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <unistd.h>
#include <utility>

namespace tcp {
namespace {

constexpr std::chrono::minutes idle_limit{1};

// A server that cannot listen must not look as if it did.
[[noreturn]] void give_up(int port, const char *reason)
{
    std::fprintf(stderr, "flux: tcp.Listen: cannot listen on port %d: %s\n", port, reason);
    std::fflush(nullptr);
    ::_exit(EXIT_FAILURE);
}

// What listens on the port, which is opened by the first source that asks for it.
flux::listener &listener_of(int port)
{
    static std::mutex opening;
    static std::map<int, std::unique_ptr<flux::listener>> listeners;
    if (port < 0 || port > 65535) {
        give_up(port, "ports are numbers from 0 to 65535");
    }
    const std::lock_guard<std::mutex> alone(opening);
    std::unique_ptr<flux::listener> &known = listeners[port];
    if (known == nullptr) {
        auto opened = flux::running_io().listen(flux::any_address(static_cast<std::uint16_t>(port)));
        if (!opened.has_value()) {
            give_up(port, std::strerror(opened.error()));
        }
        known = *std::move(opened);
        flux::log_line("listening on %s", known->local().text().c_str());
    }
    return *known;
}

// The next connection for the source on this thread or loop.
int next(int port, flux::first_given first, flux::connection *&into)
{
    thread_local std::map<std::pair<int, flux::first_given>, std::shared_ptr<flux::connections>> own;
    std::shared_ptr<flux::connections> &known = own[{port, first}];
    if (known == nullptr) {
        known = std::make_shared<flux::connections>(flux::running_io(), listener_of(port), first, idle_limit);
        flux::running_flow->from().when_stopped([ended = known] { ended->end(); });
    }
    const flux::io_result<flux::connection *> given = known->next();
    if (!given.has_value()) {
        return given.error();
    }
    into = *given;
    return 0;
}

} // namespace

int Listen(Listen_in *in, Listen_out *out)
{
    return next(in->port, flux::first_given::with_input, out->connection);
}

int Accept(Accept_in *in, Accept_out *out)
{
    return next(in->port, flux::first_given::at_once, out->connection);
}

int Connect(Connect_in *in, Connect_out *out)
{
    const std::optional<flux::address> to = flux::parse_address(in->to);
    if (!to) {
        return EADDRNOTAVAIL;
    }
    const flux::io_result<flux::connection *> connected = flux::connect(*to);
    if (!connected.has_value()) {
        return connected.error();
    }
    out->client = in->client;
    out->server = *connected;
    return 0;
}

int Read(Read_in *in, Read_out *out)
{
    std::array<std::byte, 65'536> buffer;
    const std::span<std::byte> room(buffer.data(), std::min(in->most, buffer.size()));
    const flux::io_result<std::size_t> count = in->connection->receive(room);
    if (!count.has_value()) {
        return count.error();
    }
    out->connection = in->connection;
    out->bytes.assign(reinterpret_cast<const char *>(buffer.data()), *count);
    return 0;
}

int Send(Send_in *in, Send_out *out)
{
    out->connection = in->connection;
    const flux::io_result<void> sent = in->connection->send(in->bytes);
    return sent.has_value() ? 0 : sent.error();
}

int Return(Return_in *in)
{
    return flux::take(in->connection->give_back());
}

int Close(Close_in *in)
{
    return flux::take(in->connection->close());
}

} // namespace tcp
