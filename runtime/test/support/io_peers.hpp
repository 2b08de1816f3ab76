/// \file
/// Both ends of streams, for the tests of I/O: made by the I/O, or plain sockets that are not ours.
#pragma once

#include "patience.hpp"

#include <flux/io.hpp>
#include <flux/io/socket.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <memory>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using flux::never;

/// A socket at a port of one host, or of all, as somebody else opens it.
inline flux::descriptor opened(int type, std::uint16_t port = 0, bool on_all_hosts = false)
{
    flux::address at = flux::loopback_address(port);
    if (on_all_hosts) {
        reinterpret_cast<sockaddr_in &>(at.storage).sin_addr.s_addr = htonl(INADDR_ANY);
    }
    flux::descriptor made(socket(AF_INET, type, 0));
    const int on = 1;
    setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    EXPECT_EQ(bind(made.get(), at.get(), at.size), 0) << strerror(errno);
    if (type == SOCK_STREAM) {
        EXPECT_EQ(listen(made.get(), 8), 0);
    }
    return made;
}

/// Sends it: 0 or the error.
inline int send(flux::stream &through, std::string_view bytes, flux::moment deadline = never)
{
    iovec whole{const_cast<char *>(bytes.data()), bytes.size()};
    const auto sent = through.send({&whole, 1}, deadline);
    return sent.has_value() ? 0 : sent.error();
}

/// Some bytes, at most so many; or `error N`.
inline std::string receive(flux::stream &from, std::size_t most = 4096, flux::moment deadline = never)
{
    std::string into(most, '\0');
    const auto count = from.receive(std::as_writable_bytes(std::span(into)), deadline);
    if (!count.has_value()) {
        return "error " + std::string(strerrorname_np(count.error()));
    }
    into.resize(*count);
    return into;
}

/// So many bytes, or fewer where the input ends.
inline std::string receive_all(flux::stream &from, std::size_t most = std::string::npos)
{
    std::string all;
    while (all.size() < most) {
        const std::string some = receive(from, std::min(most - all.size(), std::size_t{100'000}));
        if (some.empty()) {
            break;
        }
        all += some;
    }
    return all;
}

/// Bytes that differ from place to place.
inline std::string pattern(std::size_t size)
{
    std::string bytes(size, '\0');
    std::uint32_t state = 1;
    for (char &each : bytes) {
        state = state * 1664525 + 1013904223;
        each = static_cast<char>(state >> 24);
    }
    return bytes;
}

/// A listener on this machine, and where its peers arrive.
struct place {
    explicit place(flux::io &through, const flux::address &at = flux::loopback_address(0))
        : listener(*through.listen(at)), arrivals(through.make_arrivals())
    {
        EXPECT_TRUE(arrivals->watch(*listener).has_value());
    }

    std::unique_ptr<flux::stream> accept() const { return std::move((*arrivals->next()).somebody->accepted); }

    std::unique_ptr<flux::listener> listener;
    std::unique_ptr<flux::arrivals> arrivals;
};

/// Two ends of a connection, made within a flow.
struct connected {
    explicit connected(flux::io &through)
        : server(through), near(*through.connect(server.listener->local())), far(server.accept())
    {
    }

    place server;
    std::unique_ptr<flux::stream> near;
    std::unique_ptr<flux::stream> far;
};

/// A peer that is not ours: a blocking socket.
struct plain_peer {
    explicit plain_peer(const flux::address &to) : socket(::socket(to.storage.ss_family, SOCK_STREAM, 0))
    {
        EXPECT_EQ(connect(socket.get(), to.get(), to.size), 0) << strerror(errno);
    }

    void send(std::string_view bytes) const
    {
        EXPECT_EQ(write(socket.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    }

    void end_output() const { EXPECT_EQ(shutdown(socket.get(), SHUT_WR), 0); }

    /// Whether the other side has closed, or does so soon; only a hang takes until the limit.
    bool sees_end() const
    {
        pollfd ended{socket.get(), POLLRDHUP, 0};
        return poll(&ended, 1, static_cast<int>(std::chrono::milliseconds(await_limit).count())) == 1;
    }

    /// Closes it so that the other side has an error.
    void reset()
    {
        const linger at_once{1, 0};
        setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        socket = flux::descriptor();
    }

    flux::descriptor socket;
};

/// A child that has all descriptors which are open now, until this ends.
class child_with_all
{
  public:
    child_with_all()
    {
        std::array<int, 2> ends{};
        EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
        held_from_ = flux::descriptor(ends[0]);
        ends_it_ = flux::descriptor(ends[1]);
        number_ = fork();
        if (number_ == 0) {
            close(ends[1]);
            char none;
            [[maybe_unused]] const ssize_t count = read(ends[0], &none, 1); // until the parent closes its end
            _exit(0);
        }
        EXPECT_GT(number_, 0);
    }
    child_with_all(const child_with_all &) = delete;
    child_with_all &operator=(const child_with_all &) = delete;

    ~child_with_all()
    {
        ends_it_ = flux::descriptor();
        EXPECT_EQ(waitpid(number_, nullptr, 0), number_);
    }

  private:
    flux::descriptor held_from_;
    flux::descriptor ends_it_;
    pid_t number_ = -1;
};

inline std::size_t open_descriptors()
{
    std::size_t count = 0;
    DIR *const all = opendir("/proc/self/fd");
    while (readdir(all) != nullptr) {
        ++count;
    }
    closedir(all);
    return count;
}
