/// \file
/// What a source waits for under the proactor: new peers of its listener, and its idle streams that have input.
#pragma once

#include "flux/io/acceptor.hpp"
#include "flux/io/direction.hpp"
#include "flux/io/intake.hpp"
#include "flux/io/ready_queue.hpp"
#include "flux/io/socket.hpp"

#include <memory>
#include <utility>

namespace flux {

/// A socket that peers connect to.
class proactor_listener final : public listener
{
  public:
    explicit proactor_listener(public_socket socket) noexcept : socket_(std::move(socket)) {}

    address local() const noexcept override { return local_address(socket_); }
    const descriptor &socket() const noexcept { return socket_; }

  private:
    const public_socket socket_;
};

/// Of one source, on one loop.
class proactor_arrivals final : public arrivals
{
  public:
    explicit proactor_arrivals(proactor_shared &through) noexcept : shared_(through) {}
    ~proactor_arrivals() override;

    io_result<void> watch(listener &from) noexcept override;
    io_result<void> watch(stream &idle, void *owner, bool soon) noexcept override;
    bool forget(stream &watched) noexcept override;
    void *next_told() noexcept override;
    io_result<arrival> next(moment deadline) noexcept override;

  private:
    io_result<arrival> accept() noexcept;
    int wait(moment deadline) noexcept;

    proactor_shared &shared_;
    std::unique_ptr<acceptor> acceptor_;
    std::unique_ptr<bell_of_acceptor> bell_;
    bool turn_of_new_ = false;
    // Open where there may be something of either.
    direction some_;
    ready_queue<intake> ready_{some_};
};

} // namespace flux
