/// \file
/// The memory that a ring's multishot receives put into what comes: buffers that are given to the kernel beforehand,
/// which takes one for each piece of input, so that an idle stream holds none. (io_uring_register_buf_ring(3))
///
/// A buffer is taken by a completion, read by whoever the stream belongs to, and given back. There may be none left for
/// a while; then receives end with ENOBUFS.
#pragma once

#include "flux/io/ring.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace flux {

class receive_buffers;

/// Input that has come and is not read yet, in the order in which it came: a row of buffers, the first perhaps read in
/// part.
class unread_input
{
  public:
    bool empty() const noexcept { return count_ == 0; }
    /// How many buffers it holds.
    std::size_t count() const noexcept { return count_; }

    /// Of these buffers, this one has come, with so many bytes, at least 1.
    void append(receive_buffers &of, std::uint16_t number, std::size_t bytes) noexcept;

    /// Reads as much as there is and `into` has room for: how many bytes. Gives buffers back that are read.
    std::size_t read(receive_buffers &of, std::span<std::byte> into) noexcept;

    /// Gives all back.
    void drop(receive_buffers &of) noexcept;

  private:
    void drop_first(receive_buffers &of) noexcept;

    std::uint16_t first_ = 0;
    std::uint16_t last_ = 0;
    std::uint16_t count_ = 0;
    std::uint16_t read_of_first_ = 0;
};

/// The buffers of one ring.
class receive_buffers
{
  public:
    /// Bytes in each. Only pages that were written to take memory.
    static constexpr std::size_t size = std::size_t{16} << 10;
    /// How many there are, a power of two: more than streams that have input in one turn.
    static constexpr std::uint16_t count = 512;
    /// What operations call them by.
    static constexpr std::uint16_t group = 0;

    /// Throws `std::system_error` where the kernel refuses, or has no memory.
    explicit receive_buffers(ring &of);
    /// Nothing is in flight that might take one.
    ~receive_buffers();
    receive_buffers(const receive_buffers &) = delete;
    receive_buffers &operator=(const receive_buffers &) = delete;

    /// Whether the kernel has any, as far as is known.
    bool any_free() const noexcept { return taken_ < count; }

    /// The kernel has taken one.
    void take() noexcept { ++taken_; }

    /// The kernel may take it again.
    void give_back(std::uint16_t number) noexcept;

  private:
    friend class unread_input;

    // Of a buffer that is taken: its bytes, and the next one of the same stream.
    struct taken_buffer {
        std::uint16_t bytes;
        std::uint16_t next;
    };

    std::byte *at(std::uint16_t number) const noexcept { return memory_ + number * size; }

    std::byte *memory_;
    io_uring_buf_ring *free_;
    std::array<taken_buffer, count> taken_buffers_;
    std::size_t taken_ = 0;
};

} // namespace flux
