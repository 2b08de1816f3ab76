/// \file
/// Fibers whose calls of the C library are caught, on a loop that is turned by hand, for the tests of calls.
#pragma once

#include "io_world.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/// The world, whose I/O is the calling thread's as long as it exists.
template <class World>
class calling_world : public World
{
  public:
    calling_world() { flux::run_on_io(&this->io()); }
    ~calling_world() { flux::run_on_io(nullptr); }
};

/// Two descriptors of one thing, which block; closed at the end, unless that is done.
struct two_ends {
    std::array<int, 2> ends{-1, -1};

    ~two_ends()
    {
        close_end(0);
        close_end(1);
    }

    static two_ends of_pipe()
    {
        two_ends made;
        EXPECT_EQ(pipe2(made.ends.data(), O_CLOEXEC), 0);
        return made;
    }
    static two_ends of_sockets(int type = SOCK_STREAM)
    {
        two_ends made;
        EXPECT_EQ(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, made.ends.data()), 0);
        return made;
    }
    two_ends() = default;
    two_ends(two_ends &&other) noexcept : ends(std::exchange(other.ends, {-1, -1})) {}
    two_ends &operator=(two_ends &&other) noexcept
    {
        std::swap(ends, other.ends);
        return *this;
    }

    int operator[](std::size_t end) const { return ends[end]; }
    void close_end(std::size_t end)
    {
        if (ends[end] >= 0) {
            close(std::exchange(ends[end], -1));
        }
    }
};

/// Lets all others run that can.
inline void let_others_run()
{
    usleep(2'000);
}

inline std::string read_text(int from, std::size_t most = 100)
{
    std::string text(most, '\0');
    const ssize_t got = read(from, text.data(), text.size());
    text.resize(static_cast<std::size_t>(std::max(got, ssize_t{0})));
    return got < 0 ? "error " + std::to_string(errno) : text;
}

inline ssize_t write_text(int to, std::string_view text)
{
    return write(to, text.data(), text.size());
}

inline void set_timeout(int socket, int option, std::chrono::microseconds time)
{
    const timeval longest{time.count() / 1'000'000, time.count() % 1'000'000};
    setsockopt(socket, SOL_SOCKET, option, &longest, sizeof longest);
}
