/// \file
/// A listener that is a socket of the system. Loops of any kind accept from it.
#pragma once

#include "flux/io/accept_group.hpp"
#include "flux/io/server_io.hpp"
#include "flux/io/socket.hpp"

#include <cerrno>
#include <memory>
#include <new>
#include <utility>

namespace flux {

/// Where peers connect to.
class socket_listener final : public listener
{
  public:
    socket_listener(public_socket socket, std::shared_ptr<accept_group> group) noexcept
        : socket_(std::move(socket)), group_(std::move(group))
    {
    }

    address local() const noexcept override { return local_address(socket_); }
    const descriptor &socket() const noexcept { return socket_; }
    const std::shared_ptr<accept_group> &group() const noexcept { return group_; }

  private:
    const public_socket socket_;
    const std::shared_ptr<accept_group> group_;
};

/// One at this address.
inline io_result<std::unique_ptr<listener>> open_socket_listener(const address &at) noexcept
{
    io_result<public_socket> opened = open_listener(at);
    if (!opened.has_value()) {
        return unexpected(opened.error());
    }
    try {
        auto group = std::make_shared<accept_group>(current_part(&server_io::entrances));
        return std::unique_ptr<listener>(
            std::make_unique<socket_listener>(*std::move(opened), std::move(group)));
    } catch (const std::bad_alloc &) {
        return unexpected(ENOMEM);
    }
}

} // namespace flux
