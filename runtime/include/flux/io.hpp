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

#include <cstddef>
#include <memory>
#include <span>
#include <sys/uio.h>

namespace flux {

/// The result of a call, or its error code.
template <class Value>
using io_result = expected<Value, int>;

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

    /// As `send`, for who is about to send more: they may go out together. True where it has taken the parts, which go
    /// out soon, with what is sent next or before the loop asks the kernel for more; an error of that is the next
    /// call's. False where it has not: then they are to be sent.
    bool send_later(std::span<const iovec> parts) noexcept
    {
        const bool taken = do_send_later(parts);
        spend_io_budget(0);
        return taken;
    }

    /// Waits until the kernel has all that was taken to be sent.
    virtual io_result<void> flush(moment /*deadline*/ = never) noexcept { return {}; }

    /// No flow will have it for a while: waits until what was taken goes out without one.
    virtual io_result<void> before_idle(moment /*deadline*/ = never) noexcept { return {}; }

    /// There is no more to send: the peer comes to the end of its input.
    virtual void end_output() noexcept = 0;

    /// Whether `receive` may have something to give, as far as that is known at once.
    virtual bool has_input() noexcept { return false; }

  protected:
    stream() noexcept = default;

  private:
    virtual io_result<std::size_t> do_receive(std::span<std::byte> into, moment deadline) noexcept = 0;
    // As long as it sends without waiting, it refills its budget after each part of the way.
    virtual io_result<void> do_send(std::span<iovec> parts, moment deadline) noexcept = 0;
    virtual bool do_send_later(std::span<const iovec> /*parts*/) noexcept { return false; }
};

/// Where peers connect to.
class listener
{
  public:
    /// Closes it. Nobody waits for it any more.
    virtual ~listener() = default;
    listener(const listener &) = delete;
    listener &operator=(const listener &) = delete;

    /// Its own address, with the port that was found where none was asked for.
    virtual address local() const noexcept = 0;

  protected:
    listener() noexcept = default;
};

/// Messages to and from many peers, each by itself.
class datagram_socket
{
  public:
    /// A message as it came: so many bytes, and who has sent it.
    struct datagram {
        std::size_t size;
        address from;
    };

    /// Closes it. Nobody waits for it any more.
    virtual ~datagram_socket() = default;
    datagram_socket(const datagram_socket &) = delete;
    datagram_socket &operator=(const datagram_socket &) = delete;

    /// Waits for a message. What does not fit into `into` of it is lost.
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

/// What a source waits for: new peers, and old ones that have something to say. It belongs to one source, and is used
/// on that one's thread or loop; but where threads run flows, any of them may call `watch` for a stream.
///
/// Where nobody can be accepted, as there are no descriptors or no memory, new peers wait in the kernel; that is said
/// on standard error, and tried again after a tenth of a second.
class arrivals
{
  public:
    /// A new peer.
    struct newcomer {
        std::unique_ptr<stream> accepted;
        address from;
        /// Who keeps it as long as the connection lasts is counted for the loop: new ones go where the fewest are.
        accept_seat seat = {};
    };

    /// Who has come: somebody new, or else the stream that was watched for this `owner`; or with neither, nobody:
    /// nobody new comes any more (`accepting.hpp`).
    struct arrival {
        std::unique_ptr<newcomer> somebody;
        void *owner = nullptr;
    };

    virtual ~arrivals() = default;
    arrivals(const arrivals &) = delete;
    arrivals &operator=(const arrivals &) = delete;

    /// Peers of the listener come here from now on; it outlives this. It may be watched by the arrivals of many loops.
    virtual io_result<void> watch(listener &from) noexcept = 0;

    /// When the stream has input, or comes to its end or an error, `next` gives its `owner` once; or else soon, where
    /// that is not to be waited for. Nobody waits for the stream meanwhile. It is made by the same I/O.
    virtual io_result<void> watch(stream &idle, void *owner, bool soon = false) noexcept = 0;

    /// The stream is not waited for any more; false where it has input already, and `next` gives it still.
    virtual bool forget(stream &watched) noexcept = 0;

    /// The owner of a stream that has been notified and that `next` has not given: that gives it no more. Null where
    /// there is none.
    virtual void *next_ready() noexcept = 0;

    /// Waits for the next arrival.
    virtual io_result<arrival> next(moment deadline = never) noexcept = 0;

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

    /// The time of the last look at the world, which costs no reading of a clock: on a loop it was then that there was
    /// last asked what has come. Anywhere else it is now.
    virtual moment last_look() const noexcept { return now(); }

    /// Whether all that it made is used by one thread, a loop's.
    virtual bool is_of_one_thread() const noexcept { return true; }

    /// Listens at this address. Port 0 is any that is free. The listener may be watched by any I/O of the same kind.
    virtual io_result<std::unique_ptr<listener>> listen(const address &at) noexcept = 0;

    /// Connects to a peer.
    virtual io_result<std::unique_ptr<stream>> connect(const address &to, moment deadline = never) noexcept = 0;

    /// Sends and receives messages at this address. Port 0 is any that is free.
    virtual io_result<std::unique_ptr<datagram_socket>> bind(const address &at) noexcept = 0;

    /// A place for a source to wait at. Throws `std::bad_alloc`, and `std::system_error` where there is no descriptor.
    virtual std::unique_ptr<arrivals> make_arrivals() = 0;

  protected:
    io() noexcept = default;
};

/// The I/O of whatever runs the caller: its loop's, or else the one that blocks.
io &running_io() noexcept;

} // namespace flux
