#include "flux/process/adoption.hpp"

#include "flux/log.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <netinet/in.h>
#include <stdexcept>
#include <string_view>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

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

/// A socket that nobody has asked for yet.
struct waiting_socket {
    descriptor socket;
    address at;
    socket_origin from;
    /// Its address too.
    std::string name;
};

/// The number of a socket that is in use.
struct open_socket {
    int number;
    bool adopted;
};

/// The sockets of the process.
struct sockets {
    std::mutex lock;
    std::vector<waiting_socket> waiting;
    std::vector<open_socket> open;
};

// It is there for as long as there are sockets, some of which are closed when the process ends.
sockets &all_sockets()
{
    static sockets &all = *new sockets;
    return all;
}

descriptor copy_of(int number) noexcept
{
    return descriptor(fcntl(number, F_DUPFD_CLOEXEC, 0));
}

// The widest of those that wait.
std::optional<descriptor> take_waiting(sockets &all, const address &at, socket_kind kind)
{
    auto widest = all.waiting.end();
    for (auto each = all.waiting.begin(); each != all.waiting.end(); ++each) {
        const bool fits = is_of_kind(each->socket.get(), kind) && serves(each->at, at);
        if (fits && (widest == all.waiting.end() || reach_of(each->at) > reach_of(widest->at))) {
            widest = each;
        }
    }
    if (widest == all.waiting.end()) {
        return std::nullopt;
    }
    descriptor taken = std::move(widest->socket);
    all.waiting.erase(widest);
    return taken;
}

// One for messages that is in use, once more.
std::optional<descriptor> share_adopted(const sockets &all, const address &at)
{
    for (const open_socket &each : all.open) {
        descriptor copy = each.adopted && is_of_kind(each.number, socket_kind::datagrams) ? copy_of(each.number)
                                                                                          : descriptor();
        if (copy.get() >= 0 && serves(local_address(copy), at)) {
            return copy;
        }
    }
    return std::nullopt;
}

// The value of a variable that is a number of at least 0; nothing where it is not set. Throws `std::invalid_argument`.
std::optional<int> number_in(const char *variable)
{
    const char *const value = std::getenv(variable);
    if (value == nullptr) {
        return std::nullopt;
    }
    const std::string_view text = value;
    int number = -1;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc() || end != text.data() + text.size() || number < 0) {
        throw std::invalid_argument(std::string(variable) + " is to be a number, not `" + value + "`");
    }
    return number;
}

// Takes the next name off LISTEN_FDNAMES.
std::string next_name(std::string_view &names)
{
    const std::string_view name = names.substr(0, names.find(':'));
    names.remove_prefix(std::min(name.size() + 1, names.size()));
    return name.empty() ? std::string() : " `" + std::string(name) + "`";
}

void adopt_passed(int first)
{
    const std::optional<int> process = number_in("LISTEN_PID");
    const std::optional<int> count = number_in("LISTEN_FDS");
    if (process != getpid() || !count) {
        return;
    }
    const char *const all_names = std::getenv("LISTEN_FDNAMES");
    std::string_view names = all_names == nullptr ? "" : all_names;
    for (int number = first; number - first < *count; ++number) {
        const std::string name = "descriptor " + std::to_string(number) + next_name(names) + " of LISTEN_FDS";
        adopt(descriptor(number), socket_origin::service_manager, name);
    }
}

} // namespace

public_socket::public_socket(descriptor own, bool adopted) : descriptor(std::move(own))
{
    sockets &all = all_sockets();
    const std::lock_guard alone(all.lock);
    all.open.push_back({get(), adopted});
}

public_socket::~public_socket()
{
    if (get() < 0) {
        return;
    }
    sockets &all = all_sockets();
    const std::lock_guard alone(all.lock);
    std::erase_if(all.open, [this](const open_socket &each) { return each.number == get(); });
}

void adopt(descriptor given, socket_origin from, const std::string &name)
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
    sockets &all = all_sockets();
    const std::lock_guard alone(all.lock);
    all.waiting.push_back({std::move(given), at, from, std::move(full_name)});
}

void adopt_from_service_manager(int first)
{
    const auto forget = [] {
        for (const char *const variable : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) {
            unsetenv(variable);
        }
    };
    try {
        adopt_passed(first);
    } catch (...) {
        forget();
        throw;
    }
    forget();
}

std::optional<descriptor> take_adopted(const address &at, socket_kind kind) noexcept
{
    try {
        sockets &all = all_sockets();
        const std::lock_guard alone(all.lock);
        std::optional<descriptor> taken = take_waiting(all, at, kind);
        return taken || kind == socket_kind::listener ? std::move(taken) : share_adopted(all, at);
    } catch (const std::bad_alloc &) {
        return std::nullopt; // then there is no memory for a new one either
    }
}

bool all_adopted_are_taken() noexcept
{
    sockets &all = all_sockets();
    const std::lock_guard alone(all.lock);
    return all.waiting.empty();
}

bool any_public_socket() noexcept
{
    sockets &all = all_sockets();
    const std::lock_guard alone(all.lock);
    return !all.open.empty();
}

bool is_bound_here(const address &at) noexcept
{
    const auto is_just = [&at](const address &bound) {
        return bound.size == at.size && std::memcmp(&bound.storage, &at.storage, at.size) == 0;
    };
    sockets &all = all_sockets();
    const std::lock_guard alone(all.lock);
    return std::any_of(all.open.begin(), all.open.end(), [&](const open_socket &each) {
        address bound;
        bound.size = sizeof bound.storage;
        return is_of_kind(each.number, socket_kind::datagrams) &&
               getsockname(each.number, bound.get(), &bound.size) == 0 && is_just(bound);
    });
}

void settle_adopted() noexcept
{
    sockets &all = all_sockets();
    const std::lock_guard alone(all.lock);
    std::erase_if(all.waiting, [](const waiting_socket &each) {
        const bool closes = each.from == socket_origin::server_before;
        log_line("nobody here listens at %s: %s", each.name.c_str(),
                 closes ? "it is closed" : "take it out of the socket unit, or have the program listen there");
        return closes;
    });
}

std::vector<descriptor> copy_public_sockets()
{
    sockets &all = all_sockets();
    const std::lock_guard alone(all.lock);
    std::vector<descriptor> copies;
    for (const open_socket &each : all.open) {
        copies.push_back(copy_of(each.number));
        if (copies.back().get() < 0) {
            throw std::system_error(errno, std::generic_category(), "a socket cannot be handed on");
        }
    }
    return copies;
}

} // namespace flux
