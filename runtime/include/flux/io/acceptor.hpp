/// \file
/// How the proactor accepts.
#pragma once

#include "flux/error.hpp"
#include "flux/io/accepting.hpp"
#include "flux/io/direction.hpp"
#include "flux/io/ring.hpp"
#include "flux/io/socket.hpp"
#include "flux/log.hpp"

#include <cerrno>
#include <cstdint>
#include <poll.h>
#include <utility>

namespace flux {

/// New peers of a listener. While nobody waits there an operation accepts the next; it is followed by calls until
/// nobody is left. Each is accepted when the source asks, so that those whom this loop cannot serve at once wait in the
/// kernel, where other loops may have them. It is in flight while the kernel accepts, and outlives its arrivals until
/// that is over.
class acceptor final : public submission
{
  public:
    acceptor(ring &through, const descriptor &from, direction &told) noexcept
        : ring_(through), from_(from), told_(&told)
    {
    }

    /// Accepts, unless it does, or rests, or has left.
    void begin() noexcept
    {
        if (in_flight() || some_ || leaving_ || try_again_ != never) {
            return;
        }
        ring_.submit(*this, [this](io_uring_sqe &entry) {
            peer_.size = sizeof peer_.storage;
            io_uring_prep_accept(&entry, from_.get(), peer_.get(), &peer_.size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        });
    }

    /// Whether there may be somebody.
    bool some() const noexcept { return some_; }

    /// Somebody, or EAGAIN; after any other error it rests.
    io_result<descriptor> next(address &peer) noexcept
    {
        if (accepted_.get() >= 0) {
            peer = peer_;
            return std::exchange(accepted_, descriptor());
        }
        io_result<descriptor> accepted = try_accept(from_, peer);
        some_ = accepted.has_value();
        if (!some_ && accepted.error() != EAGAIN) {
            rest(accepted.error());
        }
        return accepted;
    }

    /// Nobody is accepted any more but who waits now.
    void leave() noexcept
    {
        if (std::exchange(leaving_, true)) {
            return;
        }
        if (in_flight()) {
            ring_.cancel(*this);
        } else {
            look();
        }
    }

    /// Whether that is done: once.
    bool has_left() noexcept
    {
        const bool is_done = leaving_ && !in_flight() && !some_ && try_again_ == never;
        return is_done && !std::exchange(left_, true);
    }

    /// When to accept again after that has failed.
    moment try_again() const noexcept { return try_again_; }

    void stop_resting() noexcept
    {
        try_again_ = never;
        some_ = true;
    }

    void tell_nobody() noexcept { told_ = nullptr; }

    void came(int result, std::uint32_t) noexcept override
    {
        if (result >= 0) {
            accepted_ = descriptor(result);
        } else if (result != -ECANCELED && result != -ECONNABORTED && result != -EINTR) {
            rest(-result);
            return;
        }
        // Whoever has gone before being accepted is nobody's error.
        look();
    }

    void rest(int error) noexcept
    {
        some_ = false;
        log_rarely("connections wait, as none can be accepted: %s", describe_error(error).c_str());
        try_again_ = clock::now() + arrivals::accept_rest;
        wake();
    }

    /// There may be somebody.
    void look() noexcept
    {
        some_ = true;
        wake();
    }

  private:
    void wake() noexcept
    {
        if (told_ != nullptr) {
            told_->set();
        }
    }

    ring &ring_;
    const descriptor &from_;
    direction *told_;
    // Who has been accepted by the operation.
    descriptor accepted_;
    address peer_;
    bool some_ = false;
    bool leaving_ = false;
    bool left_ = false;
    moment try_again_ = never;
};

/// Waits for the bell of those who accept, for as long as it is there.
class bell_of_acceptor final : public submission
{
  public:
    explicit bell_of_acceptor(acceptor &told) noexcept : told_(&told) {}

    void begin(ring &through) noexcept
    {
        through.submit(*this,
                       [this](io_uring_sqe &entry) { io_uring_prep_poll_multishot(&entry, bell_.get(), POLLIN); });
    }

    void tell_nobody() noexcept { told_ = nullptr; }

    void came(int result, std::uint32_t) noexcept override
    {
        if (told_ == nullptr || result < 0) {
            return;
        }
        if (accepting_has_ended()) {
            told_->leave();
        } else {
            told_->look();
        }
    }

  private:
    const descriptor bell_ = bell_of_listeners();
    acceptor *told_;
};

} // namespace flux
