/// \file
/// Loads a server that sends back what it is sent: so many connections, each with the next message as soon as the last
/// has come back whole. Says how many messages there were in the measured time, and how much processor time the server
/// took meanwhile, of all its threads, by the kernel's scheduler (`/proc/PID/task/TID/schedstat`, in nanoseconds).
#include "listening.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/epoll.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;

struct options {
    std::uint16_t port;
    std::string server;
    std::size_t connections;
    double seconds;
    std::size_t bytes;
};

double processor_time(const std::string &server)
{
    double nanoseconds = 0;
    for (const auto &thread : std::filesystem::directory_iterator("/proc/" + server + "/task")) {
        double used = 0;
        std::ifstream(thread.path() / "schedstat") >> used;
        nanoseconds += used;
    }
    return nanoseconds;
}

/// The server may only just have been started.
int connect_to(std::uint16_t port)
{
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto end = clock_type::now() + std::chrono::seconds(10);
    while (true) {
        const int made = checked(socket(AF_INET, SOCK_STREAM, 0), "socket");
        const int on = 1;
        setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (connect(made, reinterpret_cast<sockaddr *>(&to), sizeof to) == 0) {
            return made;
        }
        checked(clock_type::now() < end ? 0 : -1, "connect");
        close(made);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

/// One connection: how much of its message has come back.
struct peer {
    int socket;
    std::size_t returned = 0;
};

class load
{
  public:
    explicit load(const options &of) : options_(of), message_(of.bytes, 'x'), epoll_(checked(epoll_create1(0), "epoll"))
    {
        peers_.reserve(of.connections);
        for (std::size_t each = 0; each < of.connections; ++each) {
            peers_.push_back({connect_to(of.port)});
            epoll_event event{};
            event.events = EPOLLIN;
            event.data.ptr = &peers_.back();
            checked(epoll_ctl(epoll_, EPOLL_CTL_ADD, peers_.back().socket, &event), "epoll_ctl");
        }
        for (peer &each : peers_) {
            say(each);
        }
    }

    /// Goes on for so long: how many messages have come back.
    std::uint64_t run(double seconds)
    {
        const auto end = clock_type::now() + std::chrono::duration<double>(seconds);
        std::uint64_t messages = 0;
        while (clock_type::now() < end) {
            epoll_event events[256];
            const int count = epoll_wait(epoll_, events, 256, 100);
            for (int each = 0; each < count; ++each) {
                messages += hear(*static_cast<peer *>(events[each].data.ptr)) ? 1 : 0;
            }
        }
        return messages;
    }

  private:
    void say(peer &to)
    {
        const ssize_t count = send(to.socket, message_.data(), message_.size(), MSG_NOSIGNAL);
        checked(count == static_cast<ssize_t>(message_.size()) ? 0 : -1, "send");
    }

    // Whether the message is whole; then the next one is on its way.
    bool hear(peer &from)
    {
        char bytes[65536];
        const ssize_t count = recv(from.socket, bytes, sizeof bytes, 0);
        checked(count > 0 ? 0 : -1, "recv");
        from.returned += static_cast<std::size_t>(count);
        if (from.returned < message_.size()) {
            return false;
        }
        from.returned = 0;
        say(from);
        return true;
    }

    options options_;
    std::string message_;
    int epoll_;
    std::vector<peer> peers_;
};

} // namespace

int main(int argc, char **argv)
{
    if (argc != 6) {
        std::fprintf(stderr, "usage: %s PORT SERVER_PID CONNECTIONS SECONDS BYTES\n", argv[0]);
        return 2;
    }
    const options chosen{static_cast<std::uint16_t>(std::atoi(argv[1])), argv[2],
                         static_cast<std::size_t>(std::atol(argv[3])), std::atof(argv[4]),
                         static_cast<std::size_t>(std::atol(argv[5]))};
    load generated(chosen);
    generated.run(0.5);
    const double before = processor_time(chosen.server);
    const std::uint64_t messages = generated.run(chosen.seconds);
    const double used = processor_time(chosen.server) - before;
    std::printf("%.1f messages a second, %.1f ns of processor time each\n",
                static_cast<double>(messages) / chosen.seconds, used / static_cast<double>(messages));
}
