/// \file
/// Sockets of the system, for the kinds of I/O that use them: how they are opened, and the calls that are tried on
/// them. Every socket here is non-blocking and closed on exec; a call either succeeds at once or fails with EAGAIN.
#pragma once

#include "flux/address.hpp"
#include "flux/io.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <sys/epoll.h>
#include <sys/uio.h>
#include <utility>

namespace flux {

/// A descriptor that is closed at its end.
class descriptor
{
  public:
    descriptor() noexcept = default;
    explicit descriptor(int owned) noexcept : number_(owned) {}
    descriptor(descriptor &&other) noexcept : number_(std::exchange(other.number_, -1)) {}
    descriptor &operator=(descriptor &&other) noexcept
    {
        std::swap(number_, other.number_);
        return *this;
    }
    ~descriptor();

    /// Its number; -1 where there is none.
    int get() const noexcept { return number_; }

  private:
    int number_ = -1;
};

/// What a socket is for: peers that connect, or messages.
enum class socket_kind : unsigned char { listener, datagrams };

class public_sockets;

/// A socket that peers know by its address: one of its server's (`public_sockets.hpp`), which can hand it on as long as
/// it is open.
class public_socket : public descriptor
{
  public:
    /// Throws `std::bad_alloc`.
    public_socket(descriptor own, std::shared_ptr<public_sockets> in, bool adopted);
    public_socket(public_socket &&) noexcept = default;
    public_socket &operator=(public_socket &&) = delete;
    ~public_socket();

  private:
    std::shared_ptr<public_sockets> in_;
};

/// A socket of the calling thread's server that listens at this address: an adopted one, or a new one. On IPv6's
/// any-address it takes IPv4 too, and where there is no IPv6 it is IPv4's. Connections that it accepts send what they
/// have without delay. A new Unix socket is its owner's alone, and takes the place of one whose server has ended.
io_result<public_socket> open_listener(const address &at) noexcept;

/// What a stream is to do, or those that a listener accepts: it sends without delay, and what its peer calls urgent
/// stands among the other bytes, where it was sent (RFC 6093, section 6). Else the kernel says that a socket is empty
/// where a receive comes to the place of urgent data, though more has come behind that.
void set_stream_options(int socket, const address &of) noexcept;

/// Whether an address is a socket's own, or that of the sockets of all loops of this server: then the kernel gives each
/// peer to one of these. In either case no other server has it.
enum class sharing : unsigned char { none, of_loops };

/// A socket for messages at this address, which is treated in the same way.
io_result<public_socket> open_datagram_socket(const address &at, sharing how) noexcept;

/// A socket for one stream to this address, not connected yet.
io_result<descriptor> open_stream_socket(const address &to) noexcept;

/// Begins to connect: 0 where that is done, EINPROGRESS where `connect_error` will tell when the socket is writable.
int begin_connect(const descriptor &from, const address &to) noexcept;
int connect_error(const descriptor &from) noexcept;

/// The socket's own address.
address local_address(const descriptor &of) noexcept;

/// That of the peer that it is connected to; empty where there is none any more.
address peer_address(const descriptor &of) noexcept;

/// The next peer of a listener.
io_result<descriptor> try_accept(const descriptor &from, address &peer) noexcept;

/// Some bytes of a stream: how many, 0 at its end.
io_result<std::size_t> try_receive(const descriptor &from, std::span<std::byte> into) noexcept;

/// Whether a receive would give something: bytes, the end or an error.
bool socket_has_input(const descriptor &of) noexcept;

/// The kernel takes so many parts with one call (IOV_MAX).
inline constexpr std::size_t most_parts = 1024;

/// Sends as much as there is room for, of the first `most_parts`: how many bytes.
io_result<std::size_t> try_send(const descriptor &to, std::span<const iovec> parts) noexcept;

/// A message.
io_result<datagram_socket::datagram> try_receive_from(const descriptor &from, std::span<std::byte> into) noexcept;
io_result<void> try_send_to(const descriptor &from, std::span<const std::byte> message, const address &to) noexcept;

/// Waits until an epoll instance has events, at most until this moment: as `epoll_wait`. Where there is no
/// `epoll_pwait2`, before Linux 5.11, under valgrind and in some containers, by the millisecond, and never too early.
int wait_for_events(const descriptor &epoll, std::span<epoll_event> into, moment until) noexcept;

/// Takes so many bytes off the beginning of the parts: what is left has at least one byte, or is empty.
inline std::span<iovec> drop_first(std::span<iovec> parts, std::size_t bytes) noexcept
{
    while (!parts.empty() && bytes >= parts.front().iov_len) {
        bytes -= parts.front().iov_len;
        parts = parts.subspan(1);
    }
    if (!parts.empty()) {
        parts.front().iov_base = static_cast<std::byte *>(parts.front().iov_base) + bytes;
        parts.front().iov_len -= bytes;
    }
    return parts;
}

} // namespace flux
