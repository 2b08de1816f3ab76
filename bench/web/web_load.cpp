/// \file
/// Loads a web server, and says as JSON how many answers there were, how much processor time the server took meanwhile,
/// of all its threads, by the kernel's scheduler (`/proc/PID/task/TID/schedstat`, in nanoseconds), and how long answers
/// took. In a closed loop each connection has the next request as soon as it has its answer. In an open loop, at a
/// constant rate, a request counts from when it is due, so that a server that stalls is charged for all that come
/// meanwhile. The load is to be cheaper than any server: a head is looked through for its status and its length, and a
/// content is thrown away by the kernel, uncopied.
#include "../floor/checked.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;
using std::string_view;

/// The fields of a browser; with `Host` and `Connection` they are ten.
constexpr const char *browser = "sec-ch-ua-mobile: ?0\r\n"
                                "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
                                "Chrome/126.0.0.0 Safari/537.36\r\n"
                                "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,"
                                "image/apng,*/*;q=0.8\r\n"
                                "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: navigate\r\n"
                                "Sec-Fetch-Dest: document\r\n"
                                "Accept-Encoding: gzip, deflate, br, zstd\r\nAccept-Language: en-US,en;q=0.9\r\n";

[[noreturn]] void give_up(const std::string &why)
{
    std::fprintf(stderr, "web_load: %s\n", why.c_str());
    std::exit(1);
}

/// What the load is.
struct settings {
    std::uint16_t port;
    std::size_t connections;
    /// Requests of a connection before it is closed; 0: all.
    std::size_t each;
    /// Requests a second; 0: a closed loop.
    double rate;
    /// What is asked for, in this order; the connections begin at different ones.
    std::vector<std::string> requests;
    /// The same, as the last request of a connection.
    std::vector<std::string> last_requests;
    /// The processes of the server, comma separated.
    std::vector<std::string> servers;
};

double processor_time(const std::vector<std::string> &servers)
{
    double nanoseconds = 0;
    for (const std::string &server : servers) {
        for (const auto &thread : std::filesystem::directory_iterator("/proc/" + server + "/task")) {
            double used = 0;
            std::ifstream(thread.path() / "schedstat") >> used;
            nanoseconds += used;
        }
    }
    return nanoseconds;
}

/// A connection, and the request that it has.
struct client {
    int socket = -1;
    std::size_t at = 0;
    std::size_t left = 0;
    bool is_busy = false;
    std::string head;
    /// Of the content; `head` is not whole as long as this is not known.
    std::size_t missing = 0;
    bool has_head = false;
    /// The server says that it closes.
    bool closes = false;
    clock_type::time_point due;
};

class load
{
  public:
    explicit load(const settings &of) : settings_(of), epoll_(checked(epoll_create1(0), "epoll"))
    {
        for (std::size_t each = 0; each < of.connections; ++each) {
            client &made = *clients_.emplace_back(std::make_unique<client>());
            made.at = each * of.requests.size() / of.connections;
            connect(made);
            idle_.push_back(&made);
        }
        next_due_ = clock_type::now();
    }

    /// Goes on until the time, or until so many were answered.
    void run(clock_type::time_point end, std::uint64_t most)
    {
        answers_ = 0;
        latencies_.clear();
        while (answers_ < most && (now_ = clock_type::now()) < end) {
            start_due();
            wait(end);
        }
    }

    std::uint64_t answers() const noexcept { return answers_; }
    std::uint64_t asked_again() const noexcept { return asked_again_; }

    /// Microseconds.
    double latency(double part)
    {
        if (latencies_.empty()) {
            return 0;
        }
        const auto at = static_cast<std::ptrdiff_t>(part * static_cast<double>(latencies_.size() - 1));
        std::nth_element(latencies_.begin(), latencies_.begin() + at, latencies_.end());
        return static_cast<double>(latencies_[static_cast<std::size_t>(at)]) / 1000;
    }

  private:
    void start_due()
    {
        if (settings_.rate > 0) {
            const auto step = std::chrono::duration_cast<clock_type::duration>(
                std::chrono::duration<double>(1 / settings_.rate));
            for (; next_due_ <= now_; next_due_ += step) {
                due_.push_back(next_due_);
            }
            for (; !due_.empty() && !idle_.empty(); due_.pop_front()) {
                ask_next(due_.front());
            }
            return;
        }
        while (!idle_.empty()) {
            ask_next(now_);
        }
    }

    void ask_next(clock_type::time_point due)
    {
        // Who has waited longest, so that all connections are used.
        client &next = *idle_.front();
        idle_.pop_front();
        next.due = due;
        ask(next);
    }

    void wait(clock_type::time_point end)
    {
        auto until = std::min(end, now_ + std::chrono::milliseconds(100));
        if (settings_.rate > 0) {
            until = std::min(until, next_due_);
        }
        const auto left = std::max(until - clock_type::now(), clock_type::duration::zero());
        const timespec limit{std::chrono::duration_cast<std::chrono::seconds>(left).count(),
                             (left % std::chrono::seconds(1)).count()};
        epoll_event events[256];
        const int count = epoll_pwait2(epoll_, events, 256, &limit, nullptr);
        now_ = clock_type::now();
        for (int each = 0; each < count; ++each) {
            hear(*static_cast<client *>(events[each].data.ptr));
        }
    }

    void connect(client &made)
    {
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(settings_.port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        made.socket = checked(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
        const int on = 1;
        setsockopt(made.socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        checked(::connect(made.socket, reinterpret_cast<sockaddr *>(&to), sizeof to), "connect");
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.ptr = &made;
        checked(epoll_ctl(epoll_, EPOLL_CTL_ADD, made.socket, &event), "epoll_ctl");
        made.left = settings_.each;
    }

    void ask(client &of)
    {
        if (of.socket < 0) {
            connect(of);
        }
        of.is_busy = true;
        const std::string &all = of.left == 1 ? settings_.last_requests[of.at] : settings_.requests[of.at];
        const ssize_t count = send(of.socket, all.data(), all.size(), MSG_NOSIGNAL);
        if (count < 0) {
            ask_again(of);
            return;
        }
        checked(count == static_cast<ssize_t>(all.size()) ? 0 : -1, "send");
    }

    // A server may close a connection when it likes to, between two requests: then another has this one.
    void ask_again(client &of)
    {
        if (!of.head.empty()) {
            give_up("the server has closed a connection in the middle of an answer");
        }
        close(of.socket);
        of.socket = -1;
        if (of.is_busy) {
            ++asked_again_;
            connect(of);
            of.left = of.left == 0 ? 0 : settings_.each;
            ask(of);
        }
    }

    void hear(client &from)
    {
        if (!from.is_busy) {
            ask_again(from);
            return;
        }
        if (!from.has_head) {
            hear_head(from);
        }
        while (from.has_head && from.missing > 0) {
            const ssize_t count = recv(from.socket, nullptr, from.missing, MSG_TRUNC | MSG_DONTWAIT);
            if (count < 0 && errno == EAGAIN) {
                return;
            }
            if (count <= 0) {
                give_up("an answer ends too early");
            }
            from.missing -= static_cast<std::size_t>(count);
        }
        if (from.has_head) {
            end_answer(from);
        }
    }

    void hear_head(client &from)
    {
        static char bytes[16384];
        const ssize_t count = recv(from.socket, bytes, sizeof bytes, MSG_DONTWAIT);
        if (count < 0 && errno == EAGAIN) {
            return;
        }
        if (count <= 0) {
            ask_again(from);
            return;
        }
        from.head.append(bytes, static_cast<std::size_t>(count));
        const std::size_t end = from.head.find("\r\n\r\n");
        if (end == from.head.npos) {
            return;
        }
        const string_view head = string_view(from.head).substr(0, end + 2);
        if (head.substr(8, 5) != " 200 ") {
            give_up("an answer of another status: " + std::string(head.substr(0, head.find('\r'))));
        }
        const std::size_t size = size_of(head);
        const std::size_t here = from.head.size() - (end + 4);
        if (here > size) {
            give_up("an answer is longer than it says");
        }
        from.closes = head.find("\r\nConnection: close") != head.npos ||
                      head.find("\r\nconnection: close") != head.npos;
        from.missing = size - here;
        from.has_head = true;
    }

    static std::size_t size_of(string_view head)
    {
        constexpr string_view names[] = {"\r\nContent-Length: ", "\r\ncontent-length: "};
        for (const string_view name : names) {
            if (const std::size_t at = head.find(name); at != head.npos) {
                return static_cast<std::size_t>(std::atoll(head.data() + at + name.size()));
            }
        }
        give_up("an answer without Content-Length");
    }

    void end_answer(client &of)
    {
        ++answers_;
        latencies_.push_back(static_cast<std::uint32_t>(
            std::min<std::int64_t>(std::chrono::nanoseconds(now_ - of.due).count(), UINT32_MAX)));
        of.is_busy = false;
        of.has_head = false;
        of.head.clear();
        of.at = (of.at + 1) % settings_.requests.size();
        if (of.left == 1 || of.closes) {
            close(of.socket);
            of.socket = -1;
            of.closes = false;
        } else if (of.left != 0) {
            --of.left;
        }
        if (settings_.rate == 0) {
            of.due = now_;
            ask(of);
        } else {
            idle_.push_back(&of);
        }
    }

    settings settings_;
    int epoll_;
    std::vector<std::unique_ptr<client>> clients_;
    std::deque<client *> idle_;
    std::deque<clock_type::time_point> due_;
    clock_type::time_point next_due_;
    clock_type::time_point now_;
    std::uint64_t answers_ = 0;
    std::uint64_t asked_again_ = 0;
    std::vector<std::uint32_t> latencies_;
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

    std::string text(const std::string &name) const
    {
        const auto found = given_.find("--" + name);
        return found == given_.end() ? "" : found->second;
    }

    double number(const std::string &name, double otherwise) const
    {
        return text(name).empty() ? otherwise : std::atof(text(name).c_str());
    }

  private:
    std::map<std::string, std::string> given_;
};

settings read_settings(const arguments &given)
{
    settings chosen{static_cast<std::uint16_t>(given.number("port", 0)),
                    static_cast<std::size_t>(given.number("connections", 1)),
                    static_cast<std::size_t>(given.number("each", 0)), given.number("rate", 0), {}, {}, {}};
    const std::string host = "Host: 127.0.0.1:" + std::to_string(chosen.port) + "\r\n";
    std::ifstream targets(given.text("targets"));
    for (std::string target; std::getline(targets, target);) {
        const std::string begin = "GET " + target + " HTTP/1.1\r\n" + host;
        chosen.requests.push_back(begin + "Connection: keep-alive\r\n" + browser + "\r\n");
        chosen.last_requests.push_back(begin + "Connection: close\r\n" + browser + "\r\n");
    }
    std::istringstream servers(given.text("servers"));
    for (std::string server; std::getline(servers, server, ',');) {
        chosen.servers.push_back(server);
    }
    if (chosen.port == 0 || chosen.connections == 0 || chosen.requests.empty()) {
        give_up("usage: --port PORT --connections COUNT --targets FILE [--each REQUESTS] [--rate REQUESTS] "
                "(--requests COUNT | --seconds SECONDS --warm-up SECONDS --servers PID,PID)");
    }
    return chosen;
}

} // namespace

int main(int argc, char **argv)
{
    const arguments given(argc, argv);
    const settings chosen = read_settings(given);
    // Else the kernel may round each wait up by 50 microseconds.
    prctl(PR_SET_TIMERSLACK, 1UL);
    load generated(chosen);
    if (const double most = given.number("requests", 0); most > 0) {
        generated.run(clock_type::time_point::max(), static_cast<std::uint64_t>(most));
        std::printf("{\"answers\": %ju, \"asked_again\": %ju}\n", std::uintmax_t{generated.answers()},
                    std::uintmax_t{generated.asked_again()});
        return 0;
    }
    const auto seconds = [&](const char *name) {
        return std::chrono::duration_cast<clock_type::duration>(std::chrono::duration<double>(given.number(name, 1)));
    };
    generated.run(clock_type::now() + seconds("warm-up"), UINT64_MAX);
    const double before = processor_time(chosen.servers);
    const auto begin = clock_type::now();
    generated.run(begin + seconds("seconds"), UINT64_MAX);
    const std::chrono::duration<double> took = clock_type::now() - begin;
    const double used = processor_time(chosen.servers) - before;
    std::printf("{\"answers\": %ju, \"seconds\": %.6f, \"processor_ns\": %.0f, \"p50_us\": %.1f, \"p99_us\": %.1f, "
                "\"asked_again\": %ju}\n",
                std::uintmax_t{generated.answers()}, took.count(), used, generated.latency(0.5),
                generated.latency(0.99), std::uintmax_t{generated.asked_again()});
}
