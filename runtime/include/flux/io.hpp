/// \file
/// How a flow does I/O: one interface for streams, listeners and datagrams, for every strategy and every kind of system
/// call. A call that would block lets only the flow wait; on an event loop its thread continues with other flows.
///
/// There are four kinds. On an event loop they are the `reactor` (epoll says when a call will not block), the
/// `proactor` (io_uring is given the operation itself) and the `simulation` (no kernel and no time: a seed decides what
/// comes when). Anywhere else a call simply blocks its thread (`blocking_io`).
///
/// On a loop, all of a loop's I/O is its thread's own: a stream is used by flows of the loop that it was made on, and
/// by no other, so nothing here needs a lock. Elsewhere any thread may use a stream, one at a time for each direction.
///
/// Every call that waits ends as its park does: with a result, with ETIMEDOUT when its deadline or the flow's has
/// passed, with ECANCELED when the flow is cancelled. So does one of many calls in a row that never wait
/// (`io/budget.hpp`). Other errors are the system's, by their numbers in `errno.h`.
#pragma once

#include "flux/address.hpp"
#include "flux/expected.hpp"
#include "flux/io/accept_seat.hpp"
#include "flux/io/budget.hpp"
#include "flux/moment.hpp"
#include "flux/processor_use.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <sys/types.h>
#include <sys/uio.h>

namespace flux {

/// The result of a call, or its error code.
template <class Value>
using io_result = expected<Value, int>;

/// A part of a regular file that somebody keeps open.
struct file_part {
    int descriptor;
    /// Of its first byte.
    off_t offset;
    std::size_t size;

    /// What is behind its first `count` bytes.
    file_part from(std::size_t count) const noexcept
    {
        return {descriptor, offset + static_cast<off_t>(count), size - count};
    }
};

/// Bytes to and from one peer, in order.
class stream
{
  public:
    /// Closes it. No flow may be waiting for it.
    virtual ~stream() = default;
    stream(const stream &) = delete;
    stream &operator=(const stream &) = delete;

    /// Waits until there are some bytes, and gives how many it has put into `into`: 0 at the end of the input.
    io_result<std::size_t> receive(std::span<std::byte> into, moment deadline = never) noexcept
    {
        if (const int error = within_io_budget(); error != 0) {
            return unexpected(error);
        }
        const io_result<std::size_t> received = do_receive(into, deadline);
        spend_io_budget(received.has_value() ? *received : 0);
        return received;
    }

    /// Sends all of it, the parts one after the other. After an error it is not known how much has been sent. Changes
    /// what `parts` say.
    io_result<void> send(std::span<iovec> parts, moment deadline = never) noexcept
    {
        if (const int error = within_io_budget(); error != 0) {
            return unexpected(error);
        }
        std::size_t bytes = 0;
        for (const iovec &each : parts) {
            bytes += each.iov_len;
        }
        spend_io_budget(bytes);
        return do_send(parts, deadline);
    }

    /// Sends these bytes and then a part of a file, which the kernel copies to the socket itself where it can. Fails
    /// with ENODATA if the file has become too short. Bytes of the file that are not in memory hold the thread until
    /// the disk has given them.
    io_result<void> send_file(std::string_view before, file_part part, moment deadline = never) noexcept
    {
        if (const int error = within_io_budget(); error != 0) {
            return unexpected(error);
        }
        spend_io_budget(before.size());
        return do_send_file(before, part, deadline);
    }

    /// As `send`, for a caller that will send more soon, so that both can go out together. Returns true if it has taken
    /// the parts: they go out with what is sent next, or before the loop asks the kernel for more, and an error is
    /// reported by the next call. Returns false if it has not; then the caller must send them.
    bool send_later(std::span<const iovec> parts) noexcept
    {
        const bool taken = do_send_later(parts);
        spend_io_budget(0);
        return taken;
    }

    /// Whether `send_later` may take anything: on an event loop, where all who use the stream are on one thread.
    bool sends_later() const noexcept { return sends_later_; }

    /// Sends as many of these bytes as go without waiting, and gives their number. On an event loop they go out as
    /// those of `send_later` do. What is sent to a peer that is gone counts as sent: its input ends, too.
    virtual std::size_t send_at_once(std::string_view bytes) noexcept = 0;

    /// Ends both directions now; what is not sent is lost. Whoever receives or sends comes to the end.
    virtual void cut() noexcept = 0;

    /// Waits until the kernel has everything that `send_later` has taken.
    virtual io_result<void> flush(moment /*deadline*/ = never) noexcept { return {}; }

    /// Must be called before the stream becomes idle: waits until what `send_later` has taken goes out without a flow.
    virtual io_result<void> before_idle(moment /*deadline*/ = never) noexcept { return {}; }

    /// Ends the output: the peer comes to the end of its input.
    virtual void end_output() noexcept = 0;

    /// Sends what was put aside to be sent, without waiting: whether nothing is left of it, and the stream can be
    /// closed for no more than ending its output costs, as nothing is being received.
    virtual bool can_close_now() noexcept { return false; }

    /// Whether `receive` may have something to give, as far as that is known at once.
    virtual bool has_input() noexcept { return false; }

    /// Whether `has_input` asks the kernel what a receive that does not wait would ask it as well.
    virtual bool looks_by_receiving() const noexcept { return false; }

    /// Whether it is known already that the peer sends no more; there may be bytes before its end.
    virtual bool peer_has_ended() const noexcept { return false; }

    /// What it has received itself and nobody was given: nothing; bytes; or a part of something that gives no bytes
    /// before its rest has come, such as half a record of TLS, or half a handshake.
    enum class held_input : unsigned char { nothing, bytes, part };
    virtual held_input held() const noexcept { return held_input::nothing; }

    /// One more descriptor of its socket, for another server that goes on with the peer when this one is closed; -1
    /// where none can, as something was received or is to be sent that only this one knows of.
    virtual int copy_idle() noexcept { return -1; }

    /// The stream that I/O has made, which is what can be watched: this one, or the one below it (`stream_layer.hpp`).
    virtual stream &wire() noexcept { return *this; }

    /// The protocol that both sides have agreed to speak on it, by its name of RFC 7301 (ALPN), `h2`; empty if they
    /// have not.
    virtual std::string_view protocol() const noexcept { return {}; }

    /// Whether nobody on the way can read or change what goes through it.
    virtual bool is_secure() const noexcept { return false; }

  protected:
    explicit stream(bool sends_later = false) noexcept : sends_later_(sends_later) {}

  private:
    virtual io_result<std::size_t> do_receive(std::span<std::byte> into, moment deadline) noexcept = 0;
    // As long as it sends without waiting, it refills its budget after each part of the way.
    virtual io_result<void> do_send(std::span<iovec> parts, moment deadline) noexcept = 0;
    // Of one that `sends_later`.
    virtual bool do_send_later(std::span<const iovec> /*parts*/) noexcept { return false; }
    // By copies, where a stream has no better way. As long as it sends without waiting, it refills its budget.
    virtual io_result<void> do_send_file(std::string_view before, file_part part, moment deadline) noexcept;

    const bool sends_later_;
};

/// Where peers connect to.
class listener
{
  public:
    /// Closes it. No flow may be waiting for it.
    virtual ~listener() = default;
    listener(const listener &) = delete;
    listener &operator=(const listener &) = delete;

    /// Its own address, with the port that the system chose if none was asked for.
    virtual address local() const noexcept = 0;

  protected:
    listener() noexcept = default;
};

/// A socket for datagrams: separate messages from and to many peers.
class datagram_socket
{
  public:
    /// A message that was received: its size, and who has sent it.
    struct datagram {
        std::size_t size;
        address from;
    };

    /// Closes it. Nobody waits for it any more.
    virtual ~datagram_socket() = default;
    datagram_socket(const datagram_socket &) = delete;
    datagram_socket &operator=(const datagram_socket &) = delete;

    /// Waits for a message. The part of it that does not fit into `into` is lost.
    io_result<datagram> receive(std::span<std::byte> into, moment deadline = never) noexcept
    {
        if (const int error = within_io_budget(); error != 0) {
            return unexpected(error);
        }
        const io_result<datagram> received = do_receive(into, deadline);
        spend_io_budget(received.has_value() ? (*received).size : 0);
        return received;
    }

    /// Sends a message.
    io_result<void> send(std::span<const std::byte> message, const address &to, moment deadline = never) noexcept
    {
        if (const int error = within_io_budget(); error != 0) {
            return unexpected(error);
        }
        spend_io_budget(message.size());
        return do_send(message, to, deadline);
    }

    /// Its own address.
    virtual address local() const noexcept = 0;

  protected:
    datagram_socket() noexcept = default;

  private:
    virtual io_result<datagram> do_receive(std::span<std::byte> into, moment deadline) noexcept = 0;
    virtual io_result<void> do_send(std::span<const std::byte> message, const address &to,
                                    moment deadline) noexcept = 0;
};

/// What a source waits for: new peers, and idle ones that have sent something. It belongs to one source, and is used on
/// that source's thread or loop; but if flows run on threads, any of them may call `watch` for a stream. If no peer can
/// be accepted, because there are no descriptors or no memory, new peers wait in the kernel; this is logged, and tried
/// again after a tenth of a second.
class arrivals
{
  public:
    /// A new peer.
    struct newcomer {
        std::unique_ptr<stream> accepted;
        address from;
        /// Counted for the loop as long as it is kept, which is as long as the connection lasts: new peers go to the
        /// loop with the fewest.
        accept_seat seat = {};
    };

    /// A new peer, or else the stream that was watched for this `owner`. Neither means that no new peers come any more
    /// (`accepting.hpp`).
    struct arrival {
        std::unique_ptr<newcomer> somebody;
        void *owner = nullptr;
    };

    virtual ~arrivals() = default;
    arrivals(const arrivals &) = delete;
    arrivals &operator=(const arrivals &) = delete;

    /// Watches the listener for new peers. It must outlive this; the arrivals of many loops may watch one listener.
    virtual io_result<void> watch(listener &from) noexcept = 0;

    /// Watches an idle stream: when it has input, or comes to its end or an error, `next` gives its `owner` once. With
    /// `soon`, `next` gives it in any case, without waiting for that. No flow may wait for the stream meanwhile. It
    /// must be made by the same I/O: it is the `wire` of a connection.
    virtual io_result<void> watch(stream &idle, void *owner, bool soon = false) noexcept = 0;

    /// Stops watching the stream. Returns false if it has input already, and `next` will still give it.
    virtual bool forget(stream &watched) noexcept = 0;

    /// Takes the owner of a stream that has input and that `next` has not given yet; `next` will not give it. Null if
    /// there is none.
    virtual void *next_ready() noexcept = 0;

    /// Waits for the next arrival.
    virtual io_result<arrival> next(moment deadline = never) noexcept = 0;

    /// From now on the new peers belong together, or no longer: on loops nobody else accepts from the listener between
    /// the first of them and that (`accept_policy.hpp`).
    virtual void gather([[maybe_unused]] bool begins) noexcept {}

  protected:
    arrivals() noexcept = default;
};

/// One implementation of I/O.
class io
{
  public:
    virtual ~io() = default;
    io(const io &) = delete;
    io &operator=(const io &) = delete;

    /// What users call it: `reactor`.
    virtual const char *name() const noexcept = 0;

    /// The time that deadlines are compared with.
    virtual moment now() const noexcept = 0;

    /// A recent time, which costs no reading of a clock: on a loop, the time when it last asked the kernel for events.
    /// Elsewhere it is the current time.
    virtual moment last_look() const noexcept { return now(); }

    /// What the thread that asks has had of the processors, by that time.
    virtual processor_use used() const noexcept { return processor_use::of_thread(); }

    /// Whether everything that it makes is used by one thread, that of a loop.
    virtual bool is_of_one_thread() const noexcept { return true; }

    /// Listens at this address. Port 0 means any free port. Any I/O of the same kind may watch the listener.
    virtual io_result<std::unique_ptr<listener>> listen(const address &at) noexcept = 0;

    /// Connects to a peer.
    virtual io_result<std::unique_ptr<stream>> connect(const address &to, moment deadline = never) noexcept = 0;

    /// Sends and receives datagrams at this address. Port 0 means any free port.
    virtual io_result<std::unique_ptr<datagram_socket>> bind(const address &at) noexcept = 0;

    /// A place for a source to wait at. Throws `std::bad_alloc`, and `std::system_error` if there is no descriptor
    /// left.
    virtual std::unique_ptr<arrivals> make_arrivals() = 0;

  protected:
    io() noexcept = default;
};

/// The I/O of the calling thread: that of its loop, or else the one that blocks.
io &running_io() noexcept;

} // namespace flux
