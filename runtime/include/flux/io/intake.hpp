/// \file
/// The input of a stream of the proactor. The kernel receives into buffers of the loop before the reader asks. If all
/// of these are full and unread, the kernel only says when there is input, and a call then receives it.
#pragma once

#include "flux/io/direction.hpp"
#include "flux/io/outbox.hpp"
#include "flux/io/ready_queue.hpp"
#include "flux/io/receive_buffers.hpp"
#include "flux/io/ring.hpp"
#include "flux/io/socket.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace flux {

/// What all of a loop's streams share.
struct proactor_shared {
    flux::ring ring;
    receive_buffers buffers{ring};
    outbox_row outboxes;
};

/// A connected socket and its input. It is in flight while the kernel receives for it or waits for input, and outlives
/// its stream until that is over.
class intake final : public submission, public ready_entry
{
  public:
    intake(proactor_shared &through, descriptor socket) noexcept : shared_(through), socket_(std::move(socket)) {}
    ~intake() override { unread_.drop(shared_.buffers); }

    proactor_shared &through() const noexcept { return shared_; }
    const descriptor &socket() const noexcept { return socket_; }

    /// As `stream::receive`.
    io_result<std::size_t> receive(std::span<std::byte> into, moment deadline) noexcept;

    /// Whether there is something.
    bool look() noexcept;

    void came(int result, std::uint32_t flags) noexcept override;

    /// Goes into this queue once, when there is input or at once.
    void queue_in(ready_queue &to, void *whom, bool at_once) noexcept;

    /// Goes into no queue any more: whether it would have.
    bool leave_queue() noexcept { return std::exchange(queue_, nullptr) != nullptr; }

  private:
    void begin() noexcept;
    void received(int result, std::uint32_t flags) noexcept;
    bool has_something() const noexcept { return !unread_.empty() || ended_ || error_ != 0 || readable_; }

    proactor_shared &shared_;
    const descriptor socket_;
    unread_input unread_;
    // How the input has ended: well, or with an error that is given once.
    bool ended_ = false;
    int error_ = 0;
    // What is in flight is a poll, and not a receive.
    bool polls_ = false;
    // A poll has said that a call will not block.
    bool readable_ = false;
    // Open where there is something to be had.
    direction something_;
    ready_queue *queue_ = nullptr;
};

} // namespace flux
