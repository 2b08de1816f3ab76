/// \file
/// Datagrams of the proactor: a call is tried, and if it would block the ring waits for the socket.
#pragma once

#include "flux/io/loop_owned.hpp"
#include "flux/io/ring.hpp"
#include "flux/io/socket.hpp"

#include <cerrno>
#include <poll.h>
#include <utility>

namespace flux {

/// On one loop.
class proactor_datagram_socket final : public datagram_socket, public loop_owned
{
  public:
    proactor_datagram_socket(ring &through, public_socket socket) noexcept
        : ring_(through), socket_(std::move(socket))
    {
    }

    io_result<datagram> do_receive(std::span<std::byte> into, moment deadline) noexcept override
    {
        return insist(POLLIN, deadline, [&] { return try_receive_from(socket_, into); });
    }

    io_result<void> do_send(std::span<const std::byte> message, const address &to, moment deadline) noexcept override
    {
        return insist(POLLOUT, deadline, [&] { return try_send_to(socket_, message, to); });
    }

    address local() const noexcept override { return local_address(socket_); }

  private:
    // Calls `attempt` until it gives something else than EAGAIN, waiting in between. A message that is sent goes at
    // once nearly always, and those that come often come together, so a try saves more than it costs.
    template <class Attempt>
    auto insist(unsigned events, moment deadline, Attempt attempt) noexcept -> decltype(attempt())
    {
        assert_on_its_loop();
        while (true) {
            auto result = attempt();
            if (result.has_value() || result.error() != EAGAIN) {
                return result;
            }
            operation waiting;
            const int ready = waiting.run(ring_, deadline, [&](io_uring_sqe &entry) {
                io_uring_prep_poll_add(&entry, socket_.get(), events);
            });
            if (ready < 0) {
                return unexpected(waiting.error() != 0 ? waiting.error() : -ready);
            }
        }
    }

    ring &ring_;
    const public_socket socket_;
};

} // namespace flux
