/// \file
/// A stream of the reactor: a connected socket that epoll watches on edges, in both directions, from its first moment
/// to its last.
#pragma once

#include "flux/io/direction.hpp"
#include "flux/io/interest.hpp"
#include "flux/io/loop_owned.hpp"
#include "flux/io/outbox.hpp"
#include "flux/io/ready_queue.hpp"
#include "flux/io/socket.hpp"

#include <utility>

namespace flux {

/// On one loop.
class reactor_stream final : public stream, public watched, public ready_entry, public loop_owned, private outbox
{
  public:
    /// Connected to this peer, or soon.
    reactor_stream(outbox_row &of, descriptor socket, const address &peer) noexcept
        : stream(true), outbox(of), socket_(std::move(socket)), may_stop_short_(peer.storage.ss_family == AF_UNIX)
    {
    }

    ~reactor_stream() override;

    /// From now on it is watched.
    io_result<void> join(interest &of) noexcept
    {
        return of.add(socket_, EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDHUP | EPOLLET, *this);
    }

    /// Waits until a connection that has begun is made: 0 or the error.
    int finish_connect(moment deadline) noexcept
    {
        output_.open = false;
        const int error = output_.wait(park_reason::connect, deadline);
        return error != 0 ? error : connect_error(socket_);
    }

    const descriptor &socket() const noexcept { return socket_; }

    io_result<std::size_t> do_receive(std::span<std::byte> into, moment deadline) noexcept override;
    io_result<void> do_send(std::span<iovec> parts, moment deadline) noexcept override;
    bool do_send_later(std::span<const iovec> parts) noexcept override { return outbox::put(parts); }
    std::size_t send_at_once(std::string_view bytes) noexcept override;
    void cut() noexcept override;
    io_result<void> do_send_file(std::string_view before, file_part part, moment deadline) noexcept override;
    io_result<void> flush(moment deadline) noexcept override;
    io_result<void> before_idle(moment deadline) noexcept override
    {
        return outbox::idle() ? io_result<void>() : flush(deadline);
    }
    void end_output() noexcept override;
    bool has_input() noexcept override;
    bool looks_by_receiving() const noexcept override { return true; }
    bool peer_has_ended() const noexcept override { return ended_; }
    int copy_idle() noexcept override;
    void came(std::uint32_t events) noexcept override;

    /// Goes into this queue once, when there is input or at once.
    void queue_in(ready_queue &to, void *whom, bool at_once) noexcept;

    /// Goes into no queue any more: whether it would have.
    bool leave_queue() noexcept { return std::exchange(queue_, nullptr) != nullptr; }

  private:
    void send_soon() noexcept override;
    io_result<void> send_now(std::span<iovec> parts, moment deadline) noexcept;

    const descriptor socket_;
    direction input_;
    direction output_{true};
    bool ended_ = false;
    // The output ends behind what is in the outbox.
    bool ends_output_ = false;
    // A receive may give less than there is: it stops at urgent data, and on a Unix socket at passed descriptors.
    bool may_stop_short_;
    ready_queue *queue_ = nullptr;
};

} // namespace flux
