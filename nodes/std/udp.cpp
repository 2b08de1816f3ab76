// Messages over UDP, through the I/O of whatever runs the flow.

#include "udp.flux.h"

#include "udp.h"

#include "flux/cannot_serve.hpp"
#include "flux/io/server_io.hpp"
#include "flux/flow/flow.hpp"
#include "flux/log.hpp"
#include "flux/reading.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace udp {
namespace {

// A server that cannot be reached must not look as if it could.
[[noreturn]] void give_up(const flux::endpoint &at, const char *reason)
{
    flux::cannot_serve("udp.Listen: cannot use " + at.text() + ": " + reason);
}

// Binds the address, or for port 0 that which the first call has found. The socket is the source's on this thread or
// loop, and stays, as flows send through it.
flux::datagram_socket &open(const flux::endpoint &at)
{
    static std::mutex opening;
    static std::map<std::string, flux::address> found;
    static std::vector<std::unique_ptr<flux::datagram_socket>> all;
    const std::optional<flux::address> address = at.at();
    if (!address || address->storage.ss_family == AF_UNIX) {
        give_up(at, "it is to be a port from 0 to 65535, or HOST:PORT in numbers");
    }
    const std::lock_guard<std::mutex> alone(opening);
    if (all.empty()) {
        flux::server_io::current()->when_ended([] { all.clear(); });
    }
    const auto [known, is_new] = found.emplace(address->text(), *address);
    auto opened = flux::running_io().bind(known->second);
    if (!opened.has_value()) {
        give_up(at, std::strerror(opened.error()));
    }
    known->second = (*opened)->local();
    // Each loop has a socket of its own at this address, which is said once.
    if (is_new) {
        flux::log_line("listening on udp %s", known->second.text().c_str());
    }
    return *all.emplace_back(*std::move(opened));
}

flux::datagram_socket &socket_at(const flux::endpoint &at)
{
    thread_local std::vector<std::pair<flux::endpoint, flux::datagram_socket *>> own;
    for (const auto &[known, socket] : own) {
        if (known == at) {
            return *socket;
        }
    }
    // Whatever needs memory comes first: a socket that is open and not known would hold its address for ever.
    own.reserve(own.size() + 1);
    flux::endpoint known = at;
    return *own.emplace_back(std::move(known), &open(at)).second;
}

using std::chrono::milliseconds;

// The longest message that there can be.
using datagram = std::array<std::byte, 65'536>;

void limit_flow(milliseconds time)
{
    if (time.count() != 0) {
        flux::running_flow->set_deadline(flux::running_io().now() + time);
    }
}

} // namespace

int Next(Next_in *in, Next_out *out)
{
    if (flux::running_flow->in_progress()) {
        return EPERM;
    }
    datagram buffer;
    flux::datagram_socket &through = socket_at(in->at);
    const auto came = through.receive(buffer);
    if (!came.has_value()) {
        return came.error();
    }
    out->peer = {&through, (*came).from};
    out->bytes.assign(reinterpret_cast<const char *>(buffer.data()), (*came).size);
    limit_flow(milliseconds(in->request_ms));
    return 0;
}

int next_message(milliseconds request, const flux::endpoint &at, peer &from, flux::message_parse &into)
{
    if (flux::running_flow->in_progress()) {
        return EPERM;
    }
    datagram buffer;
    flux::datagram_socket &through = socket_at(at);
    while (true) {
        const auto came = through.receive(buffer);
        if (!came.has_value()) {
            return came.error();
        }
        const std::span<const std::byte> all = std::span(buffer).first((*came).size);
        const std::string_view bytes(reinterpret_cast<const char *>(all.data()), all.size());
        auto read = into.read(bytes, true);
        const bool is_message = read == flux::message_parse::state::whole;
        if (is_message && into.size() == all.size()) {
            try {
                into.bytes = flux::message_bytes::copy_of(all);
                from = {&through, (*came).from};
                limit_flow(request);
                return 0;
            } catch (const std::bad_alloc &) {
                read = flux::message_parse::state::no_memory;
            }
        }
        if (read == flux::message_parse::state::no_memory) {
            flux::running_flow->count_failure(ENOMEM);
            continue;
        }
        flux::running_flow->count_failure(EBADMSG);
        flux::log_wrong_message((*came).from, into, is_message ? all.size() - into.size() : 0);
    }
}

int Send(Send_in *in)
{
    if (in->peer.through == nullptr) {
        return EBADF;
    }
    const auto sent = in->peer.through->send(std::as_bytes(std::span(in->bytes)), in->peer.at);
    return sent.has_value() ? 0 : sent.error();
}

int SendMessage(SendMessage_in *in)
{
    if (in->peer.through == nullptr) {
        return EBADF;
    }
    const std::string_view wire = in->reply.wire();
    const auto sent = in->peer.through->send(std::as_bytes(std::span(wire)), in->peer.at);
    return sent.has_value() ? 0 : sent.error();
}

} // namespace udp
