// Messages over UDP, through the I/O of whatever runs the flow.

#include "udp.flux.h"

#include "flux/log.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <unistd.h>
#include <vector>

namespace udp {
namespace {

// A server that cannot be reached must not look as if it could.
[[noreturn]] void give_up(int port, const char *reason)
{
    std::fprintf(stderr, "flux: udp.Listen: cannot use port %d: %s\n", port, reason);
    std::fflush(nullptr);
    ::_exit(EXIT_FAILURE);
}

// Binds the port, or for port 0 that which the first call has found. The socket is the source's on this thread or loop,
// and stays, as flows send through it.
flux::datagram_socket &open(int port)
{
    static std::mutex opening;
    static std::map<int, std::uint16_t> found;
    static std::vector<std::unique_ptr<flux::datagram_socket>> all;
    if (port < 0 || port > 65535) {
        give_up(port, "ports are numbers from 0 to 65535");
    }
    const std::lock_guard<std::mutex> alone(opening);
    const auto [known, is_new] = found.emplace(port, static_cast<std::uint16_t>(port));
    auto opened = flux::running_io().bind(flux::any_address(known->second));
    if (!opened.has_value()) {
        give_up(port, std::strerror(opened.error()));
    }
    const flux::address local = (*opened)->local();
    // Each loop has a socket of its own at this address, which is said once.
    if (is_new) {
        flux::log_line("listening on udp %s", local.text().c_str());
    }
    known->second = local.port();
    return *all.emplace_back(*std::move(opened));
}

flux::datagram_socket &socket_of(int port)
{
    thread_local std::map<int, flux::datagram_socket *> own;
    flux::datagram_socket *&known = own[port];
    if (known == nullptr) {
        known = &open(port);
    }
    return *known;
}

} // namespace

int Listen(Listen_in *in, Listen_out *out)
{
    // The longest message that there can be.
    std::array<std::byte, 65'536> buffer;
    flux::datagram_socket &through = socket_of(in->port);
    const auto came = through.receive(buffer);
    if (!came.has_value()) {
        return came.error();
    }
    out->peer = {&through, (*came).from};
    out->bytes.assign(reinterpret_cast<const char *>(buffer.data()), (*came).size);
    return 0;
}

int Send(Send_in *in)
{
    const auto sent = in->peer.through->send(std::as_bytes(std::span(in->bytes)), in->peer.at);
    return sent.has_value() ? 0 : sent.error();
}

} // namespace udp
