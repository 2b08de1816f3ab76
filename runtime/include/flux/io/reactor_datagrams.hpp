/// \file
/// Datagrams of the reactor: a socket that epoll watches on edges, and that many flows may send through.
#pragma once

#include "flux/io/direction.hpp"
#include "flux/io/interest.hpp"
#include "flux/io/loop_owned.hpp"
#include "flux/io/socket.hpp"

#include <cerrno>
#include <utility>

namespace flux {

/// On one loop.
class reactor_datagram_socket final : public datagram_socket, public watched, public loop_owned
{
  public:
    explicit reactor_datagram_socket(public_socket socket) noexcept : socket_(std::move(socket)) {}

    io_result<void> join(interest &of) noexcept { return of.add(socket_, EPOLLIN | EPOLLOUT | EPOLLET, *this); }

    io_result<datagram> do_receive(std::span<std::byte> into, moment deadline) noexcept override
    {
        return insist(input_, deadline, [&] { return try_receive_from(socket_, into); });
    }

    io_result<void> do_send(std::span<const std::byte> message, const address &to, moment deadline) noexcept override
    {
        return insist(output_, deadline, [&] { return try_send_to(socket_, message, to); });
    }

    address local() const noexcept override { return local_address(socket_); }

    void came(std::uint32_t events) noexcept override
    {
        if ((events & (EPOLLIN | end_events)) != 0) {
            input_.set();
        }
        if ((events & (EPOLLOUT | end_events)) != 0) {
            output_.set();
        }
    }

  private:
    // Calls `attempt` until it gives something else than EAGAIN.
    template <class Attempt>
    auto insist(direction &through, moment deadline, Attempt attempt) noexcept -> decltype(attempt())
    {
        assert_on_its_loop();
        while (true) {
            if (const int error = through.wait(deadline); error != 0) {
                return unexpected(error);
            }
            auto result = attempt();
            if (result.has_value() || result.error() != EAGAIN) {
                return result;
            }
            through.open = false;
        }
    }

    const public_socket socket_;
    direction input_;
    direction output_{true};
};

} // namespace flux
