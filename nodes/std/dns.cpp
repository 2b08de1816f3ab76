// Names, by c-ares (https://c-ares.org) over the I/O of whatever runs the flow.
//
// A lookup is a channel of c-ares with socket functions of ours: a socket of c-ares is a number here, behind which
// there is a `datagram_socket`, or a connection where an answer is too long for a datagram. c-ares sends whenever it is
// called; what it is to receive has been received before it is called. So one flow has all of a lookup for itself, and
// waits in the runtime alone.

#include "dns.flux.h"

#include <algorithm>
#include <ares.h>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <new>
#include <optional>
#include <span>

namespace dns {
namespace {

using std::chrono::milliseconds;

flux::moment end_of(long limit_ms)
{
    return limit_ms == 0 ? flux::never : flux::running_io().now() + milliseconds(limit_ms);
}

int error_of(int status)
{
    switch (status) {
    case ARES_SUCCESS:
        return 0;
    case ARES_ENOTFOUND:
    case ARES_ENODATA:
        return ENOENT;
    case ARES_EBADNAME:
    case ARES_EBADQUERY:
    case ARES_EBADSTR:
        return EINVAL;
    case ARES_ETIMEOUT:
    case ARES_ECONNREFUSED:
        return ETIMEDOUT;
    case ARES_ENOMEM:
        return ENOMEM;
    default:
        return EPROTO;
    }
}

/// A socket of c-ares.
class socket
{
  public:
    socket(int family, int type) : family_(family), is_stream_(type == SOCK_STREAM) {}
    socket(const socket &) = delete;
    ~socket()
    {
        if (stream_ != nullptr) {
            stream_->close();
        }
    }

    int connect(const sockaddr *to, socklen_t size, flux::moment deadline)
    {
        std::memcpy(&peer_.storage, to, size);
        peer_.size = size;
        if (is_stream_) {
            return flux::take(flux::connect(peer_, deadline), stream_);
        }
        return flux::take(flux::running_io().bind(*flux::parse_address(family_ == AF_INET6 ? "[::]:0" : "0.0.0.0:0")),
                          datagrams_);
    }

    int send(const std::string &bytes, flux::moment deadline)
    {
        return flux::take(is_stream_ ? stream_->send(bytes, deadline)
                                     : datagrams_->send(std::as_bytes(std::span(bytes)), peer_, deadline));
    }

    /// Waits for something to give: 0, or the error.
    int wait(flux::moment deadline)
    {
        std::size_t count = 0;
        const std::span<std::byte> into = std::as_writable_bytes(std::span(buffer_));
        if (is_stream_) {
            const int error = flux::take(stream_->receive(into, deadline), count);
            has_ended_ = error == 0 && count == 0;
            received_ = std::string_view(buffer_.data(), count);
            return error;
        }
        flux::datagram_socket::datagram came{};
        const int error = flux::take(datagrams_->receive(into, deadline), came);
        received_ = std::string_view(buffer_.data(), came.size);
        from_ = came.from;
        return error;
    }

    /// What has been waited for, as recvfrom gives it.
    ares_ssize_t take(void *into, std::size_t size, sockaddr *from, socklen_t *from_size)
    {
        if (received_.empty() && !has_ended_) {
            errno = EAGAIN;
            return -1;
        }
        const std::size_t count = std::min(size, received_.size());
        std::memcpy(into, received_.data(), count);
        received_.remove_prefix(is_stream_ ? count : received_.size());
        if (from != nullptr) {
            *from_size = std::min(*from_size, from_.size);
            std::memcpy(from, &from_.storage, *from_size);
        }
        return static_cast<ares_ssize_t>(count);
    }

  private:
    const int family_;
    const bool is_stream_;
    flux::address peer_;
    std::unique_ptr<flux::datagram_socket> datagrams_;
    flux::connection *stream_ = nullptr;
    // What has come and c-ares has not taken.
    std::array<char, 65'536> buffer_;
    std::string_view received_;
    flux::address from_;
    bool has_ended_ = false;
};

/// One lookup.
class lookup
{
  public:
    explicit lookup(flux::moment deadline) : deadline_(deadline) {}
    lookup(const lookup &) = delete;
    ~lookup()
    {
        if (channel_ != nullptr) {
            ares_destroy(channel_);
        }
    }

    flux::io_result<std::vector<flux::address>> run(const std::string &name, const char *servers)
    {
        static const int library = ares_library_init(ARES_LIB_INIT_ALL);
        if (const int error = error_of(library != ARES_SUCCESS ? library : open(servers)); error != 0) {
            return flux::unexpected(error);
        }
        ares_addrinfo_hints hints{};
        hints.ai_flags = ARES_AI_NOSORT; // it would open sockets of its own
        hints.ai_family = AF_UNSPEC;
        ares_getaddrinfo(channel_, name.c_str(), nullptr, &hints, answered, this);
        while (!done_) {
            if (const int error = wait(); error != 0) {
                return flux::unexpected(error);
            }
        }
        const int error = error_of(status_);
        return error == 0 && !found_.empty() ? flux::io_result<std::vector<flux::address>>(std::move(found_))
                                             : flux::unexpected(error == 0 ? ENOENT : error);
    }

  private:
    int open(const char *servers)
    {
        const int opened = ares_init(&channel_);
        if (opened != ARES_SUCCESS) {
            return opened;
        }
        static const ares_socket_functions functions{make, end, connect, receive, send};
        ares_set_socket_functions(channel_, &functions, this);
        return *servers == '\0' ? ARES_SUCCESS : ares_set_servers_ports_csv(channel_, servers);
    }

    // Until there is an answer, or c-ares is to send something again.
    int wait()
    {
        timeval time{};
        const bool timed = ares_timeout(channel_, nullptr, &time) != nullptr;
        const auto step = std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
        const flux::moment next = timed ? flux::running_io().now() + step : flux::never;
        const int error = asked_ < 0 ? ECONNREFUSED : socket_at(asked_).wait(std::min(next, deadline_));
        if (error == ECANCELED || (error != 0 && flux::running_io().now() >= deadline_)) {
            return error == ECANCELED ? error : ETIMEDOUT;
        }
        ares_process_fd(channel_, error == 0 ? asked_ : ARES_SOCKET_BAD, ARES_SOCKET_BAD);
        return error == 0 || error == ETIMEDOUT || done_ ? 0 : error;
    }

    socket &socket_at(ares_socket_t number) { return *sockets_[static_cast<std::size_t>(number)]; }

    static void answered(void *self, int status, int, ares_addrinfo *found) noexcept
    {
        auto &own = *static_cast<lookup *>(self);
        own.done_ = true;
        own.status_ = status;
        for (const ares_addrinfo_node *each = found == nullptr ? nullptr : found->nodes; each; each = each->ai_next) {
            flux::address &address = own.found_.emplace_back();
            address.size = static_cast<socklen_t>(each->ai_addrlen);
            std::memcpy(&address.storage, each->ai_addr, address.size);
        }
        ares_freeaddrinfo(found);
    }

    // What c-ares calls: as socket, close, connect, recvfrom and writev.

    static ares_socket_t make(int family, int type, int, void *self) noexcept
    {
        auto &all = static_cast<lookup *>(self)->sockets_;
        try {
            all.push_back(std::make_unique<socket>(family, type));
        } catch (const std::bad_alloc &) {
            errno = ENOMEM;
            return ARES_SOCKET_BAD;
        }
        return static_cast<ares_socket_t>(all.size() - 1);
    }

    static int end(ares_socket_t ended, void *self) noexcept
    {
        auto &own = *static_cast<lookup *>(self);
        own.sockets_[static_cast<std::size_t>(ended)].reset();
        own.asked_ = own.asked_ == ended ? -1 : own.asked_;
        return 0;
    }

    static int connect(ares_socket_t from, const sockaddr *to, ares_socklen_t size, void *self) noexcept
    {
        auto &own = *static_cast<lookup *>(self);
        errno = own.socket_at(from).connect(to, size, own.deadline_);
        return errno == 0 ? 0 : -1;
    }

    static ares_ssize_t receive(ares_socket_t from, void *into, std::size_t size, int, sockaddr *peer,
                                ares_socklen_t *peer_size, void *self) noexcept
    {
        return static_cast<lookup *>(self)->socket_at(from).take(into, size, peer, peer_size);
    }

    static ares_ssize_t send(ares_socket_t through, const iovec *parts, int count, void *self) noexcept
    {
        auto &own = *static_cast<lookup *>(self);
        std::string all;
        for (const iovec &part : std::span(parts, static_cast<std::size_t>(count))) {
            all.append(static_cast<const char *>(part.iov_base), part.iov_len);
        }
        errno = own.socket_at(through).send(all, own.deadline_);
        own.asked_ = through;
        return errno == 0 ? static_cast<ares_ssize_t>(all.size()) : -1;
    }

    const flux::moment deadline_;
    ares_channel channel_ = nullptr;
    std::vector<std::unique_ptr<socket>> sockets_;
    // The one that was sent through last; -1 where there is none. Answers that come to another are too late.
    ares_socket_t asked_ = -1;
    bool done_ = false;
    int status_ = ARES_SUCCESS;
    std::vector<flux::address> found_;
};

void set_port(flux::address &of, std::uint16_t port)
{
    if (of.storage.ss_family == AF_INET6) {
        reinterpret_cast<sockaddr_in6 &>(of.storage).sin6_port = htons(port);
    } else {
        reinterpret_cast<sockaddr_in &>(of.storage).sin_port = htons(port);
    }
}

} // namespace

flux::io_result<std::vector<flux::address>> resolve(const std::string &name, std::uint16_t port, const char *servers,
                                                    flux::moment deadline)
{
    auto found = lookup(deadline).run(name, servers);
    if (!found.has_value()) {
        return found;
    }
    std::vector<flux::address> addresses = *std::move(found);
    std::for_each(addresses.begin(), addresses.end(), [port](flux::address &each) { set_port(each, port); });
    return addresses;
}

flux::io_result<flux::connection *> connect(const std::string &to, const char *servers, flux::moment deadline)
{
    if (const std::optional<flux::address> address = flux::parse_address(to)) {
        return flux::connect(*address, deadline);
    }
    const std::size_t colon = to.rfind(':');
    std::uint16_t port = 0;
    const char *const end = to.data() + to.size();
    if (colon == std::string::npos || std::from_chars(to.data() + colon + 1, end, port).ptr != end || port == 0) {
        return flux::unexpected(EINVAL);
    }
    const auto found = resolve(to.substr(0, colon), port, servers, deadline);
    if (!found.has_value()) {
        return flux::unexpected(found.error());
    }
    int error = ENOENT;
    for (const flux::address &each : *found) {
        const flux::io_result<flux::connection *> connected = flux::connect(each, deadline);
        if (connected.has_value() || connected.error() == ETIMEDOUT || connected.error() == ECANCELED) {
            return connected;
        }
        error = connected.error();
    }
    return flux::unexpected(error);
}

int Open(Open_in *in, Open_out *out)
{
    out->client = in->client;
    return flux::take(connect(in->to, in->servers, end_of(in->limit_ms)), out->server);
}

int LookUp(LookUp_in *in, LookUp_out *out)
{
    return flux::take(resolve(in->name, 0, in->servers, end_of(in->limit_ms)), out->addresses);
}

} // namespace dns
