#include "flux/io/socket.hpp"

#include "flux/io/server_io.hpp"
#include "flux/io/system_call.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <mutex>
#include <new>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace flux {
namespace {

void set_option(int socket, int level, int option, int value) noexcept
{
    // Options are wishes: a socket without them serves as well.
    setsockopt(socket, level, option, &value, sizeof value);
}

// Calls `open(address)`, and once more with IPv4's any-address where IPv6's is asked for and there is no IPv6.
template <class Open>
io_result<descriptor> open_at(const address &at, Open open) noexcept
{
    io_result<descriptor> opened = open(at);
    const auto &six = reinterpret_cast<const sockaddr_in6 &>(at.storage);
    const bool any = at.storage.ss_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&six.sin6_addr);
    if (opened.has_value() || !any || (opened.error() != EAFNOSUPPORT && opened.error() != EADDRNOTAVAIL)) {
        return opened;
    }
    address four = loopback_address(at.port());
    reinterpret_cast<sockaddr_in &>(four.storage).sin_addr.s_addr = htonl(INADDR_ANY);
    return open(four);
}

io_result<descriptor> open_socket(const address &of, int type) noexcept
{
    descriptor opened(socket(of.storage.ss_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (opened.get() < 0) {
        return unexpected(errno);
    }
    return opened;
}

const char *path_of(const address &at) noexcept
{
    return reinterpret_cast<const sockaddr_un &>(at.storage).sun_path;
}

// Whether the address is that of a Unix socket whose server has ended: the file is there, and nobody listens.
bool is_stale_socket(const address &at) noexcept
{
    const int before = errno;
    struct stat file;
    bool is_stale = at.storage.ss_family == AF_UNIX && lstat(path_of(at), &file) == 0 && S_ISSOCK(file.st_mode);
    if (is_stale) {
        const io_result<descriptor> tried = open_socket(at, SOCK_STREAM);
        is_stale = tried.has_value() && begin_connect(*tried, at) == ECONNREFUSED;
    }
    errno = before;
    return is_stale;
}

// 0 or the error.
int bind_to(const descriptor &socket, const address &at) noexcept
{
    if (at.storage.ss_family == AF_UNIX) {
        fchmod(socket.get(), S_IRUSR | S_IWUSR); // the file that `bind` makes is its owner's alone, whatever the umask
    }
    if (bind(socket.get(), at.get(), at.size) == 0) {
        return 0;
    }
    if (errno != EADDRINUSE || !is_stale_socket(at)) {
        return errno;
    }
    return unlink(path_of(at)) == 0 && bind(socket.get(), at.get(), at.size) == 0 ? 0 : errno;
}

// `joins_our_own`: a socket of another loop of this server has the address.
io_result<descriptor> open_bound(const address &at, int type, sharing how, bool joins_our_own) noexcept
{
    io_result<descriptor> opened = open_socket(at, type);
    if (!opened.has_value()) {
        return opened;
    }
    const int number = (*opened).get();
    if (type == SOCK_STREAM) {
        set_option(number, SOL_SOCKET, SO_REUSEADDR, 1);
    }
    if (at.storage.ss_family == AF_INET6) {
        set_option(number, IPPROTO_IPV6, IPV6_V6ONLY, 0);
    }
    // The kernel lets any process of this user share an address that may be shared. So the first of our sockets is
    // bound as the only one, which fails where another server has the address, and only then lets others of ours in.
    if (joins_our_own) {
        set_option(number, SOL_SOCKET, SO_REUSEPORT, 1);
    }
    if (const int error = bind_to(*opened, at); error != 0) {
        return unexpected(error);
    }
    if (how == sharing::of_loops && !joins_our_own) {
        set_option(number, SOL_SOCKET, SO_REUSEPORT, 1);
    }
    return opened;
}

// An adopted socket, or else what `open(address)` gives.
template <class Open>
io_result<public_socket> open_public(std::shared_ptr<public_sockets> in, const address &at, socket_kind kind,
                                     Open open) noexcept
{
    std::optional<descriptor> adopted = in->take_adopted(at, kind);
    io_result<descriptor> opened = adopted ? io_result<descriptor>(*std::move(adopted)) : open_at(at, open);
    if (!opened.has_value()) {
        return unexpected(opened.error());
    }
    try {
        return public_socket(*std::move(opened), std::move(in), adopted.has_value());
    } catch (const std::bad_alloc &) {
        return unexpected(ENOMEM);
    }
}

// One part alone costs the kernel less.
ssize_t send_some(int to, std::span<const iovec> parts, follows what) noexcept
{
    const int how = MSG_DONTWAIT | MSG_NOSIGNAL | (what == follows::more ? MSG_MORE : 0);
    if (parts.size() == 1) {
        const std::span whole(static_cast<const std::byte *>(parts.front().iov_base), parts.front().iov_len);
        return system_call::send(to, whole, how);
    }
    msghdr message{};
    message.msg_iov = const_cast<iovec *>(parts.data()); // the system only reads it
    message.msg_iovlen = std::min(parts.size(), most_parts);
    return system_call::send_parts(to, message, how);
}

address ask_address(int (*ask)(int, sockaddr *, socklen_t *), const descriptor &of) noexcept
{
    address said;
    said.size = sizeof said.storage;
    if (ask(of.get(), said.get(), &said.size) != 0) {
        said.size = 0;
    }
    return said;
}

// An error of a new peer's network, from before it was accepted: Linux hands it on, and the peer is gone. The next one
// has nothing to do with it; but where very many fail so, the fault is here. (accept(2), "Error handling")
constexpr int most_lost_peers = 100;

bool is_of_new_peer(int error) noexcept
{
    constexpr std::array all{ECONNABORTED, ENETDOWN, EPROTO,       ENOPROTOOPT, EHOSTDOWN,
                             ENONET,       EPERM,    EHOSTUNREACH, EOPNOTSUPP,  ENETUNREACH};
    return std::ranges::find(all, error) != all.end();
}

} // namespace

descriptor::~descriptor()
{
    if (number_ >= 0) {
        const int before = errno;
        close(number_); // Linux frees the number whatever it says
        errno = before;
    }
}

io_result<public_socket> open_listener(const address &at) noexcept
{
    std::shared_ptr<public_sockets> all = current_part(&server_io::sockets);
    return open_public(std::move(all), at, socket_kind::listener, [](const address &address) -> io_result<descriptor> {
        io_result<descriptor> opened = open_bound(address, SOCK_STREAM, sharing::none, false);
        if (!opened.has_value()) {
            return opened;
        }
        const int number = (*opened).get();
        set_stream_options(number, address); // those it accepts inherit them
        if (listen(number, SOMAXCONN) != 0) {
            return unexpected(errno);
        }
        return opened;
    });
}

void set_stream_options(int socket, const address &of) noexcept
{
    if (of.storage.ss_family != AF_UNIX) {
        set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
    }
    set_option(socket, SOL_SOCKET, SO_OOBINLINE, 1);
}

io_result<public_socket> open_datagram_socket(const address &at, sharing how) noexcept
{
    const std::shared_ptr<public_sockets> all = current_part(&server_io::sockets);
    const std::lock_guard alone(all->binding);
    return open_public(all, at, socket_kind::datagrams, [&](const address &address) {
        const bool joins_our_own = how == sharing::of_loops && all->is_bound(address);
        return open_bound(address, SOCK_DGRAM, how, joins_our_own);
    });
}

io_result<descriptor> open_stream_socket(const address &to) noexcept
{
    io_result<descriptor> opened = open_socket(to, SOCK_STREAM);
    if (opened.has_value()) {
        set_stream_options((*opened).get(), to);
    }
    return opened;
}

int begin_connect(const descriptor &from, const address &to) noexcept
{
    // An interrupted connect goes on by itself.
    const int begun = connect(from.get(), to.get(), to.size);
    return begun == 0 ? 0 : errno == EINTR ? EINPROGRESS : errno;
}

int connect_error(const descriptor &from) noexcept
{
    int error = 0;
    socklen_t size = sizeof error;
    return getsockopt(from.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

address local_address(const descriptor &of) noexcept
{
    return ask_address(getsockname, of);
}

address peer_address(const descriptor &of) noexcept
{
    return ask_address(getpeername, of);
}

io_result<descriptor> try_accept(const descriptor &from, address &peer) noexcept
{
    for (int number = 0;; ++number) {
        peer.size = sizeof peer.storage;
        descriptor accepted(system_call::accept(from.get(), peer.get(), &peer.size, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (accepted.get() >= 0) {
            return accepted;
        }
        if (errno != EINTR && (!is_of_new_peer(errno) || number == most_lost_peers)) {
            return unexpected(errno);
        }
    }
}

io_result<std::size_t> try_receive(const descriptor &from, std::span<std::byte> into) noexcept
{
    while (true) {
        const ssize_t count = system_call::receive(from.get(), into, MSG_DONTWAIT);
        if (count >= 0) {
            return static_cast<std::size_t>(count);
        }
        if (errno != EINTR) {
            return unexpected(errno);
        }
    }
}

bool socket_has_input(const descriptor &of) noexcept
{
    std::byte first;
    return system_call::receive(of.get(), {&first, 1}, MSG_DONTWAIT | MSG_PEEK) >= 0 || errno != EAGAIN;
}

io_result<std::size_t> try_send(const descriptor &to, std::span<const iovec> parts, follows what) noexcept
{
    while (true) {
        const ssize_t count = send_some(to.get(), parts, what);
        if (count >= 0) {
            return static_cast<std::size_t>(count);
        }
        if (errno != EINTR) {
            return unexpected(errno);
        }
    }
}

io_result<datagram_socket::datagram> try_receive_from(const descriptor &from, std::span<std::byte> into) noexcept
{
    while (true) {
        datagram_socket::datagram came{0, {}};
        came.from.size = sizeof came.from.storage;
        const ssize_t count =
            recvfrom(from.get(), into.data(), into.size(), MSG_DONTWAIT, came.from.get(), &came.from.size);
        if (count >= 0) {
            came.size = static_cast<std::size_t>(count);
            return came;
        }
        // A message that was refused before is an error here, and is no error of the next.
        if (errno != EINTR && errno != ECONNREFUSED) {
            return unexpected(errno);
        }
    }
}

io_result<void> try_send_to(const descriptor &from, std::span<const std::byte> message, const address &to) noexcept
{
    while (sendto(from.get(), message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL, to.get(), to.size) < 0) {
        if (errno != EINTR && errno != ECONNREFUSED) {
            return unexpected(errno);
        }
    }
    return {};
}

int wait_for_events(const descriptor &epoll, std::span<epoll_event> into, moment until) noexcept
{
    static std::atomic<bool> by_milliseconds{false};
    // The difference to `moment::min()` is none.
    const moment now = until == moment::min() || until == never ? until : clock::now();
    const clock::duration time = std::max(until - now, clock::duration::zero());
    if (!by_milliseconds.load(std::memory_order_relaxed)) {
        const std::timespec remaining = timespec_of(time);
        const int came = system_call::wait(epoll.get(), into, until == never ? nullptr : &remaining);
        if (came >= 0 || (errno != ENOSYS && errno != EPERM)) {
            return came;
        }
        by_milliseconds.store(true, std::memory_order_relaxed);
    }
    const auto remaining = std::min<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(time).count(),
                                             std::numeric_limits<int>::max());
    const auto most = static_cast<int>(into.size());
    return epoll_wait(epoll.get(), into.data(), most, until == never ? -1 : static_cast<int>(remaining));
}

} // namespace flux
