/// \file
/// What a reactor asks epoll about: descriptors, and who is notified of their events. (epoll(7))
#pragma once

#include "flux/io/socket.hpp"
#include "flux/moment.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <sys/epoll.h>

namespace flux {

/// The events after which a call does not block, although it may fail.
inline constexpr std::uint32_t end_events = EPOLLRDHUP | EPOLLHUP | EPOLLERR;

/// Who is notified of the events of a descriptor.
class watched
{
  public:
    virtual void came(std::uint32_t events) noexcept = 0;

  protected:
    ~watched() = default;
};

/// The epoll instance of a loop.
class interest
{
  public:
    /// Throws `std::system_error` where there is no descriptor.
    interest();

    /// Until the descriptor is closed.
    io_result<void> add(const descriptor &of, std::uint32_t events, watched &notified) noexcept;

    void remove(const descriptor &of) noexcept;

    /// Waits for events, at most until this moment.
    void fetch(moment until) noexcept;

    /// Notifies of what was fetched.
    void deliver() noexcept;

  private:
    const descriptor epoll_;
    std::array<epoll_event, 256> events_;
    std::size_t count_ = 0;
};

} // namespace flux
