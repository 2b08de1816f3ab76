/// \file
/// A body: a stream of bytes from one flow to another, so that neither needs all of them at once. Bytes that were
/// pushed and not pulled yet are in a window of bounded size. If it is full, the flow that pushes waits; if it is
/// empty, the flow that pulls waits. So a message may be larger than memory, and the slower side sets the pace.
///
/// One flow, or one branch of a flow, pushes, and one pulls; they may run on any threads or loops.
#pragma once

#include "flux/io.hpp"
#include "flux/constraint/lock.hpp"
#include "flux/io/park.hpp"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace flux {

/// Bytes from one flow to another.
class body
{
  public:
    /// With a window of at least one byte. Throws `std::bad_alloc`.
    explicit body(std::size_t window_bytes);
    body(const body &) = delete;
    body &operator=(const body &) = delete;

    /// Appends all of it, waiting for room as often as needed. Fails with EPIPE after `abandon`.
    io_result<void> push(std::string_view bytes, moment deadline = never) noexcept;

    /// There are no more bytes: `pull` returns 0 after the last. With an error, `pull` fails with it at once.
    void end(int error = 0) noexcept;

    /// Waits until there are some bytes, and gives how many it has put into `into`: 0 at the end.
    io_result<std::size_t> pull(std::span<std::byte> into, moment deadline = never) noexcept;

    /// The receiver pulls no more.
    void abandon() noexcept;

  private:
    /// One side: who waits there.
    struct side {
        park *waits = nullptr;
        /// Ends the wait, if there is one.
        void wake() noexcept;
    };

    int wait_at(side &own, moment deadline) noexcept;
    std::size_t take(std::span<std::byte> into) noexcept;
    std::size_t put(std::string_view bytes) noexcept;

    lock alone_;
    std::vector<std::byte> window_;
    // What is in the window: a ring.
    std::size_t begin_ = 0;
    std::size_t size_ = 0;
    bool ended_ = false;
    bool abandoned_ = false;
    int error_ = 0;
    side pushes_;
    side pulls_;
};

} // namespace flux
