/// \file
/// What a source waits for under the reactor: new peers of its listener, which epoll watches on edges, and its idle
/// streams that have input.
#pragma once

#include "flux/io/accepting.hpp"
#include "flux/io/direction.hpp"
#include "flux/io/interest.hpp"
#include "flux/io/reactor_stream.hpp"
#include "flux/io/ready_queue.hpp"
#include "flux/io/socket.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace flux {

class reactor_arrivals;

/// All arrivals of a loop.
using arrivals_row = std::vector<reactor_arrivals *>;

/// A socket that peers connect to.
class reactor_listener final : public listener
{
  public:
    explicit reactor_listener(public_socket socket) noexcept : socket_(std::move(socket)) {}

    address local() const noexcept override { return local_address(socket_); }
    const descriptor &socket() const noexcept { return socket_; }

  private:
    const public_socket socket_;
};

/// Of one source, on one loop.
class reactor_arrivals final : public arrivals, public watched
{
  public:
    reactor_arrivals(interest &of, arrivals_row &all);
    ~reactor_arrivals() override;

    io_result<void> watch(listener &from) noexcept override;
    io_result<void> watch(stream &idle, void *owner, bool soon) noexcept override;
    bool forget(stream &idle) noexcept override;
    void *next_told() noexcept override;
    io_result<arrival> next(moment deadline) noexcept override;

    /// The listener may have somebody.
    void came(std::uint32_t events) noexcept override;

    /// The loop comes to rest. If the kernel has told it of a peer whom its source cannot take now, as all flows that
    /// it may have are in progress, the others are to look: they will not be told.
    void pass_on() noexcept;

  private:
    class bell_of_arrivals final : public watched
    {
      public:
        explicit bell_of_arrivals(reactor_arrivals &told) noexcept : told_(told) {}
        void came(std::uint32_t) noexcept override { told_.look(); }

      private:
        reactor_arrivals &told_;
    };

    void look() noexcept;
    io_result<arrival> accept() noexcept;

    interest &interest_;
    arrivals_row &all_;
    reactor_listener *listener_ = nullptr;
    descriptor bell_;
    bell_of_arrivals told_by_bell_{*this};
    bool told_by_listener_ = false;
    // The listener is left: nobody is accepted any more but who waits, and that is still to be said.
    bool left_ = false;
    bool leaving_ = false;
    // Set by the edges of the listener and the bell, until nobody is left to be accepted.
    bool accepting_ = false;
    bool turn_of_new_ = false;
    // When to accept again after that has failed.
    moment try_again_ = never;
    // Open where there may be something of either.
    direction some_;
    ready_queue<reactor_stream> ready_{some_};
};

} // namespace flux
