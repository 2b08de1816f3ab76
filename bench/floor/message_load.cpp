/// \file
/// Loads a server that answers messages: so many connections, each with so many messages at once, and the next ones as
/// soon as all of these are answered. Goes on for a time, or until so many messages were answered. What is sent are
/// bytes of no meaning, or the turns of a file: a line with the bytes of the requests, the bytes of all their answers
/// and the number of messages, then the requests. The connections begin at different turns. Says as JSON how many
/// messages there were, and how much processor time the server took meanwhile, of all its threads, by the kernel's
/// scheduler (`/proc/PID/task/TID/schedstat`, in nanoseconds).
#include "checked.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;

[[noreturn]] void give_up(const std::string &why)
{
    std::fprintf(stderr, "message_load: %s\n", why.c_str());
    std::exit(1);
}

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

int connect_to(std::uint16_t port)
{
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int made = checked(socket(AF_INET, SOCK_STREAM, 0), "socket");
    const int on = 1;
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    checked(connect(made, reinterpret_cast<sockaddr *>(&to), sizeof to), "connect");
    return made;
}

/// What is sent at once, and what comes of it.
struct turn {
    std::string requests;
    std::size_t answers_size;
    std::size_t messages;
};

std::vector<turn> read_turns(const std::string &path)
{
    std::vector<turn> all;
    std::ifstream file(path, std::ios::binary);
    std::size_t size = 0;
    for (turn each; file >> size >> each.answers_size >> each.messages; all.push_back(each)) {
        file.ignore(1);
        each.requests.resize(size);
        file.read(each.requests.data(), static_cast<std::streamsize>(size));
    }
    if (all.empty()) {
        give_up("there are no turns in " + path);
    }
    return all;
}

/// What the load is.
struct settings {
    std::uint16_t port;
    std::size_t connections;
    std::vector<turn> turns;
};

/// One connection: where it is in its turns, and how many bytes of the answers have come.
struct peer {
    int socket;
    std::size_t at;
    std::size_t received = 0;
};

class load
{
  public:
    explicit load(const settings &of)
        : settings_(of), epoll_(checked(epoll_create1(0), "epoll"))
    {
        peers_.reserve(of.connections);
        for (std::size_t each = 0; each < of.connections; ++each) {
            peers_.push_back({connect_to(of.port), each * of.turns.size() / of.connections});
            epoll_event event{};
            event.events = EPOLLIN;
            event.data.ptr = &peers_.back();
            checked(epoll_ctl(epoll_, EPOLL_CTL_ADD, peers_.back().socket, &event), "epoll_ctl");
        }
        for (peer &each : peers_) {
            ask(each);
        }
    }

    /// Goes on until the time, or until so many messages were answered: how many were.
    std::uint64_t run(clock_type::time_point end, std::uint64_t most)
    {
        std::uint64_t messages = 0;
        while (messages < most && clock_type::now() < end) {
            epoll_event events[256];
            const int count = epoll_wait(epoll_, events, 256, 100);
            for (int each = 0; each < count; ++each) {
                messages += hear(*static_cast<peer *>(events[each].data.ptr));
            }
        }
        return messages;
    }

  private:
    void ask(peer &to)
    {
        const std::string &all = settings_.turns[to.at].requests;
        const ssize_t count = send(to.socket, all.data(), all.size(), MSG_NOSIGNAL);
        checked(count == static_cast<ssize_t>(all.size()) ? 0 : -1, "send");
    }

    // How many messages are answered now; then the next ones are on their way.
    std::uint64_t hear(peer &from)
    {
        static char bytes[65536];
        const ssize_t count = recv(from.socket, bytes, sizeof bytes, 0);
        if (count == 0) {
            give_up("the server has closed a connection");
        }
        checked(static_cast<int>(count), "recv");
        from.received += static_cast<std::size_t>(count);
        const turn &asked = settings_.turns[from.at];
        if (from.received < asked.answers_size) {
            return 0;
        }
        if (from.received > asked.answers_size) {
            give_up("the server answers more than it was asked");
        }
        from.received = 0;
        from.at = (from.at + 1) % settings_.turns.size();
        ask(from);
        return asked.messages;
    }

    settings settings_;
    int epoll_;
    std::vector<peer> peers_;
};

/// The command line: `--NAME VALUE` for each of these.
class arguments
{
  public:
    arguments(int argc, char **argv)
    {
        for (int each = 1; each + 1 < argc; each += 2) {
            given_[argv[each]] = argv[each + 1];
        }
    }

    double number(const std::string &name, double otherwise) const
    {
        const auto found = given_.find("--" + name);
        return found == given_.end() ? otherwise : std::atof(found->second.c_str());
    }

    std::string text(const std::string &name) const
    {
        const auto found = given_.find("--" + name);
        return found == given_.end() ? "" : found->second;
    }

    std::size_t size(const std::string &name) const { return static_cast<std::size_t>(number(name, 0)); }

  private:
    std::map<std::string, std::string> given_;
};

} // namespace

int main(int argc, char **argv)
{
    const arguments given(argc, argv);
    const std::size_t at_once = given.size("at-once");
    const std::string file = given.text("turns");
    const turn usual{std::string(at_once * given.size("request"), 'x'), at_once * given.size("answer"), at_once};
    const settings chosen{static_cast<std::uint16_t>(given.size("port")), given.size("connections"),
                          file.empty() ? std::vector{usual} : read_turns(file)};
    if (chosen.connections * chosen.turns.front().answers_size * chosen.turns.front().requests.size() == 0) {
        give_up("usage: --port PORT --connections COUNT "
                "(--at-once COUNT --request BYTES --answer BYTES | --turns FILE) "
                "(--messages COUNT | --seconds SECONDS --warm-up SECONDS --server PID)");
    }
    load generated(chosen);
    if (const std::size_t most = given.size("messages"); most != 0) {
        std::printf("{\"messages\": %ju}\n", std::uintmax_t{generated.run(clock_type::time_point::max(), most)});
        return 0;
    }
    const auto seconds = [&](const char *name) {
        return std::chrono::duration_cast<clock_type::duration>(std::chrono::duration<double>(given.number(name, 1)));
    };
    const std::string server = std::to_string(given.size("server"));
    generated.run(clock_type::now() + seconds("warm-up"), UINT64_MAX);
    const double before = processor_time(server);
    const auto begin = clock_type::now();
    const std::uint64_t messages = generated.run(begin + seconds("seconds"), UINT64_MAX);
    const std::chrono::duration<double> took = clock_type::now() - begin;
    const double used = processor_time(server) - before;
    std::printf("{\"messages\": %ju, \"seconds\": %.6f, \"processor_ns\": %.0f}\n", std::uintmax_t{messages},
                took.count(), used);
}
