/// \file
/// What a stream has to send and has not given to the kernel yet: answers to requests that came together leave
/// together, with one call. They leave at the latest before the loop asks the kernel for more, which it does when none
/// of its flows can go on, or after a batch of them. So an answer waits for other answers that are being made, but
/// never for a peer.
///
/// The buffers belong to the loop. There are only a few, which stay in the processor's cache, because each is used for
/// a moment only.
#pragma once

#include "flux/io/socket.hpp"
#include "flux/list/intrusive_list.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <sys/uio.h>
#include <utility>
#include <vector>

namespace flux {

class outbox;

/// The outboxes of a loop, and their memory. For the loop's thread.
class outbox_row
{
  public:
    /// Bytes that an outbox has room for: as many as the kernel makes into packets in one go.
    static constexpr std::size_t room = std::size_t{64} << 10;
    /// What is larger is not copied there, as giving it to the kernel by itself costs less.
    static constexpr std::size_t largest = std::size_t{16} << 10;
    /// So many outboxes hold something at a time; others send at once.
    static constexpr std::size_t most = 512;

    using buffer = std::array<std::byte, room>;

    outbox_row() noexcept = default;
    outbox_row(const outbox_row &) = delete;
    outbox_row &operator=(const outbox_row &) = delete;

    /// Gives the kernel what is in all of them.
    void send_all() noexcept;

  private:
    friend class outbox;

    std::unique_ptr<buffer> take_buffer() noexcept;
    void give_back(std::unique_ptr<buffer> unused) noexcept;

    intrusive_list<outbox> to_send_;
    // Those that nobody uses, the last one used at the end; and how many there are in all.
    std::vector<std::unique_ptr<buffer>> unused_;
    std::size_t made_ = 0;
};

/// Of one stream. It has a buffer as long as there is something in it.
class outbox : private listed<outbox>
{
  public:
    explicit outbox(outbox_row &of) noexcept : row_(of) {}
    outbox(const outbox &) = delete;
    outbox &operator=(const outbox &) = delete;

    bool empty() const noexcept { return bytes_ == nullptr; }

    /// Whether there is neither anything to send nor an error to give: nearly always.
    bool idle() const noexcept { return bytes_ == nullptr && error_ == 0; }

    /// Puts a copy behind what is there already, to be sent soon. False where it is large, or there is no
    /// room or no memory for it.
    bool put(std::span<const iovec> parts) noexcept;

    /// Puts a copy of the first of these bytes there, as many as there is room for; where they are more than that and
    /// nothing is there yet, the kernel is given the first of them at once. Gives how many were taken: all of them
    /// where the peer is gone.
    std::size_t put_or_send(const descriptor &through, std::string_view bytes) noexcept;

    /// The error that an earlier send has ended with, once; 0 where it has not.
    int take_error() noexcept { return std::exchange(error_, 0); }

  protected:
    ~outbox();

    /// What is to be sent.
    std::span<std::byte> unsent() const noexcept;

    /// Sends as much as the kernel takes at once.
    void try_to_send(const descriptor &through) noexcept;

    /// So many bytes were sent, or are in the kernel's hands.
    void sent(std::size_t count) noexcept;

    /// It cannot be sent, with this error, which is the next call's.
    void failed(int error) noexcept;

    /// What is not sent goes out when the row does.
    void list() noexcept;
    /// It is not, as somebody has begun to send it.
    void unlist() noexcept;

  private:
    friend class intrusive_list<outbox>;
    friend class outbox_row;

    virtual void send_soon() noexcept = 0;
    // One of its own, or of those that are left.
    bool has_buffer() noexcept;
    void append(std::string_view bytes) noexcept;
    void clear() noexcept;

    outbox_row &row_;
    std::unique_ptr<outbox_row::buffer> bytes_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    bool is_listed_ = false;
    int error_ = 0;
};

} // namespace flux
