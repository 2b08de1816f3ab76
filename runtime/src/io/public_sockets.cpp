#include "flux/io/public_sockets.hpp"

#include "flux/log.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <new>
#include <stdexcept>
#include <sys/socket.h>
#include <system_error>

namespace flux {
namespace {

int socket_option(int socket, int option) noexcept
{
    int value = 0;
    socklen_t size = sizeof value;
    return getsockopt(socket, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

bool is_of_kind(int socket, socket_kind kind) noexcept
{
    return kind == socket_kind::listener
               ? socket_option(socket, SO_TYPE) == SOCK_STREAM && socket_option(socket, SO_ACCEPTCONN) == 1
               : socket_option(socket, SO_TYPE) == SOCK_DGRAM;
}

// What keeps a descriptor from being a server's socket, and what to do about it; null where nothing does.
const char *flaw_of(int given) noexcept
{
    if (fcntl(given, F_GETFD) < 0) {
        return "is not open: fewer are passed than are said to be";
    }
    switch (socket_option(given, SO_TYPE)) {
    case -1:
        return "is not a socket: pass sockets alone";
    case SOCK_STREAM:
        return is_of_kind(given, socket_kind::listener) ? nullptr
                                                        : "does not listen: a socket unit is to say Accept=no";
    case SOCK_DGRAM:
        return nullptr;
    default:
        return "is a socket neither for streams nor for datagrams: pass such alone";
    }
}

enum class reach : unsigned char { one_host, all_of_ipv4, all };

reach reach_of(const address &of) noexcept
{
    if (of.storage.ss_family == AF_INET6) {
        const auto &six = reinterpret_cast<const sockaddr_in6 &>(of.storage);
        return IN6_IS_ADDR_UNSPECIFIED(&six.sin6_addr) ? reach::all : reach::one_host;
    }
    const auto &four = reinterpret_cast<const sockaddr_in &>(of.storage);
    const bool any = of.storage.ss_family == AF_INET && four.sin_addr.s_addr == htonl(INADDR_ANY);
    return any ? reach::all_of_ipv4 : reach::one_host;
}

// Whether a socket that is bound to the one is what is asked for by the other. Throws `std::bad_alloc`.
bool serves(const address &bound, const address &asked)
{
    if (asked.storage.ss_family == AF_UNIX) {
        return bound.text() == asked.text();
    }
    if (asked.port() == 0 || bound.port() != asked.port()) {
        return false;
    }
    switch (reach_of(asked)) {
    case reach::all:
        return true;
    case reach::all_of_ipv4:
        return bound.storage.ss_family == AF_INET;
    case reach::one_host:
        break;
    }
    return bound.text() == asked.text();
}

descriptor copy_of(int number) noexcept
{
    return descriptor(fcntl(number, F_DUPFD_CLOEXEC, 0));
}

} // namespace

public_socket::public_socket(descriptor own, std::shared_ptr<public_sockets> in, bool adopted)
    : descriptor(std::move(own)), in_(std::move(in))
{
    const std::lock_guard alone(in_->lock_);
    in_->open_.push_back({get(), adopted});
}

public_socket::~public_socket()
{
    if (get() < 0) {
        return;
    }
    const std::lock_guard alone(in_->lock_);
    std::erase_if(in_->open_, [this](const public_sockets::open_socket &each) { return each.number == get(); });
}

void public_sockets::adopt(descriptor given, socket_origin from, const std::string &name)
{
    const int number = given.get();
    if (const char *const flaw = flaw_of(number)) {
        throw std::invalid_argument(name + " " + flaw);
    }
    fcntl(number, F_SETFD, FD_CLOEXEC);
    fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK);
    const address at = local_address(given);
    if (is_of_kind(number, socket_kind::listener)) {
        set_stream_options(number, at); // as those that are opened here
    }
    std::string full_name = at.text() + ", " + name;
    log_line("adopted %s", full_name.c_str());
    const std::lock_guard alone(lock_);
    waiting_.push_back({std::move(given), at, from, std::move(full_name)});
}

std::optional<descriptor> public_sockets::take_adopted(const address &at, socket_kind kind) noexcept
{
    try {
        const std::lock_guard alone(lock_);
        std::optional<descriptor> taken = take_waiting(at, kind);
        return taken || kind == socket_kind::listener ? std::move(taken) : share_adopted(at);
    } catch (const std::bad_alloc &) {
        return std::nullopt; // then there is no memory for a new one either
    }
}

// The widest of those that wait.
std::optional<descriptor> public_sockets::take_waiting(const address &at, socket_kind kind)
{
    auto widest = waiting_.end();
    for (auto each = waiting_.begin(); each != waiting_.end(); ++each) {
        const bool fits = is_of_kind(each->socket.get(), kind) && serves(each->at, at);
        if (fits && (widest == waiting_.end() || reach_of(each->at) > reach_of(widest->at))) {
            widest = each;
        }
    }
    if (widest == waiting_.end()) {
        return std::nullopt;
    }
    descriptor taken = std::move(widest->socket);
    waiting_.erase(widest);
    return taken;
}

// One for messages that is in use, once more.
std::optional<descriptor> public_sockets::share_adopted(const address &at) const
{
    for (const open_socket &each : open_) {
        descriptor copy = each.adopted && is_of_kind(each.number, socket_kind::datagrams) ? copy_of(each.number)
                                                                                          : descriptor();
        if (copy.get() >= 0 && serves(local_address(copy), at)) {
            return copy;
        }
    }
    return std::nullopt;
}

bool public_sockets::all_adopted_are_taken() noexcept
{
    const std::lock_guard alone(lock_);
    return waiting_.empty();
}

bool public_sockets::any_open() noexcept
{
    const std::lock_guard alone(lock_);
    return !open_.empty();
}

bool public_sockets::is_bound(const address &at) noexcept
{
    const auto is_just = [&at](const address &bound) {
        return bound.size == at.size && std::memcmp(&bound.storage, &at.storage, at.size) == 0;
    };
    const std::lock_guard alone(lock_);
    return std::any_of(open_.begin(), open_.end(), [&](const open_socket &each) {
        address bound;
        bound.size = sizeof bound.storage;
        return is_of_kind(each.number, socket_kind::datagrams) &&
               getsockname(each.number, bound.get(), &bound.size) == 0 && is_just(bound);
    });
}

void public_sockets::settle_adopted() noexcept
{
    const std::lock_guard alone(lock_);
    std::erase_if(waiting_, [](const waiting_socket &each) {
        const bool closes = each.from == socket_origin::server_before;
        log_line("nobody here listens at %s: %s", each.name.c_str(),
                 closes ? "it is closed" : "take it out of the socket unit, or have the program listen there");
        return closes;
    });
}

std::vector<descriptor> public_sockets::copy_open()
{
    const std::lock_guard alone(lock_);
    std::vector<descriptor> copies;
    for (const open_socket &each : open_) {
        copies.push_back(copy_of(each.number));
        if (copies.back().get() < 0) {
            throw std::system_error(errno, std::generic_category(), "a socket cannot be handed on");
        }
    }
    return copies;
}

} // namespace flux
