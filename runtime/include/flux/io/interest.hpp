/// \file
/// What a reactor asks epoll about: descriptors, and whom to notify of their events. (epoll(7))
///
/// A closed descriptor stays in epoll as long as another process still has it, for example a child that was forked
/// meanwhile. So epoll is not given an address, but an index in a table together with a generation. A late event finds
/// another generation there and is ignored.
#pragma once

#include "flux/io/socket.hpp"
#include "flux/moment.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <sys/epoll.h>
#include <vector>

namespace flux {

class interest;

/// The events after which a call does not block, although it may fail.
inline constexpr std::uint32_t end_events = EPOLLRDHUP | EPOLLHUP | EPOLLERR;

/// Who is notified of the events of one descriptor, until it is destroyed.
class watched
{
  public:
    watched() noexcept = default;
    watched(const watched &) = delete;
    watched &operator=(const watched &) = delete;

    virtual void came(std::uint32_t events) noexcept = 0;

  protected:
    ~watched();

  private:
    friend class interest;

    interest *by_ = nullptr;
    std::uint32_t place_ = 0;
};

/// The epoll instance of a loop.
class interest
{
  public:
    /// Throws `std::system_error` where there is no descriptor.
    interest();

    /// Until the descriptor is closed or its watcher destroyed.
    io_result<void> add(const descriptor &of, std::uint32_t events, watched &notified) noexcept;

    void remove(const descriptor &of, watched &notified) noexcept;

    /// Waits for events, at most until this moment.
    void fetch(moment until) noexcept;

    /// Notifies of what was fetched.
    void deliver() noexcept;

  private:
    friend class watched;

    struct place {
        watched *notified;
        std::uint32_t generation;
        // The next place that is free, where this one is; the size of the table where there is none.
        std::uint32_t next_free;
    };

    io_result<void> take_place(watched &notified) noexcept;
    void give_back_place(watched &notified) noexcept;

    const descriptor epoll_;
    std::vector<place> places_;
    std::uint32_t first_free_ = 0;
    std::array<epoll_event, 256> events_;
    std::size_t count_ = 0;
};

inline watched::~watched()
{
    if (by_ != nullptr) {
        by_->give_back_place(*this);
    }
}

} // namespace flux
