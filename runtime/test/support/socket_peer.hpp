/// \file
/// A peer with a socket of the system, for a thread of its own: it has the calls of a `simulated_peer`, so that one
/// script does for both.
#pragma once

#include "flux/address.hpp"

#include <cerrno>
#include <chrono>
#include <netinet/in.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace network {

class socket_peer
{
  public:
    socket_peer() = default;
    socket_peer(const socket_peer &) = delete;
    socket_peer &operator=(const socket_peer &) = delete;
    ~socket_peer()
    {
        close();
        if (listening_ >= 0) {
            ::close(listening_);
        }
    }

    void wait(std::chrono::nanoseconds time) { std::this_thread::sleep_for(time); }

    int connect(const flux::address &to)
    {
        close();
        socket_ = socket(to.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        broken_ = ::connect(socket_, to.get(), to.size) != 0;
        return broken_ ? errno : 0;
    }

    int listen(const flux::address &at)
    {
        listening_ = socket(at.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        return bind(listening_, at.get(), at.size) == 0 && ::listen(listening_, 16) == 0 ? 0 : errno;
    }

    /// The address that it listens at.
    flux::address local() const
    {
        flux::address own;
        own.size = sizeof own.storage;
        getsockname(listening_, own.get(), &own.size);
        return own;
    }

    void accept()
    {
        close();
        socket_ = ::accept(listening_, nullptr, nullptr);
        broken_ = socket_ < 0;
    }

    /// Nobody is accepted any more: it counts as broken. Any thread calls this.
    void end_listening() { shutdown(listening_, SHUT_RDWR); }

    int send(std::string_view bytes)
    {
        while (!bytes.empty()) {
            const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (count < 0) {
                broken_ = true;
                return errno;
            }
            bytes.remove_prefix(static_cast<std::size_t>(count));
        }
        return 0;
    }

    std::string receive(std::size_t most = 4096)
    {
        std::string received(most, '\0');
        const ssize_t count = recv(socket_, received.data(), received.size(), 0);
        broken_ = count < 0;
        received.resize(broken_ ? 0 : static_cast<std::size_t>(count));
        return received;
    }

    std::string receive_exactly(std::size_t size)
    {
        std::string all;
        for (std::string some = receive(size); !some.empty(); some = receive(size - all.size())) {
            all += some;
            if (all.size() == size) {
                break;
            }
        }
        return all;
    }

    std::string receive_all()
    {
        std::string all;
        for (std::string some = receive(); !some.empty(); some = receive()) {
            all += some;
        }
        return all;
    }

    bool broken() const { return broken_; }
    void end_output() { shutdown(socket_, SHUT_WR); }

    void close()
    {
        if (socket_ >= 0) {
            ::close(socket_);
            socket_ = -1;
        }
    }

    void reset()
    {
        const linger at_once{1, 0};
        setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close();
    }

  private:
    int listening_ = -1;
    int socket_ = -1;
    bool broken_ = false;
};

} // namespace network
