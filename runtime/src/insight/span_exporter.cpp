#include "flux/insight/span_exporter.hpp"

#include "flux/error.hpp"
#include "flux/log.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace flux {
namespace {

/// What has come is sent after this time, or when it is so much.
constexpr std::chrono::seconds send_pause{1};
constexpr std::size_t many = 512;
/// Connecting, and each step of sending and receiving, takes at most so long.
constexpr timeval patience{2, 0};

/// A connection to the collector, and what has gone wrong: an error number, or the status of an answer.
class exchange
{
  public:
    ~exchange()
    {
        if (socket_ >= 0) {
            close(socket_);
        }
    }
    exchange() = default;
    exchange(const exchange &) = delete;
    exchange &operator=(const exchange &) = delete;

    /// False where the request was not taken; then `why` says it.
    bool post(const span_collector &to, const std::string &body)
    {
        const std::string head = "POST " + to.path + " HTTP/1.1\r\nHost: " + to.host + ':' + to.port +
                                 "\r\nContent-Type: application/x-protobuf\r\nConnection: close\r\nContent-Length: " +
                                 std::to_string(body.size()) + "\r\n\r\n";
        return connect_to(to) && send_all(head) && send_all(body) && is_taken();
    }

    const std::string &why() const noexcept { return why_; }

  private:
    bool fails(std::string why)
    {
        why_ = std::move(why);
        return false;
    }

    bool connect_to(const span_collector &to)
    {
        addrinfo hints{};
        hints.ai_socktype = SOCK_STREAM;
        addrinfo *found = nullptr;
        if (const int wrong = getaddrinfo(to.host.c_str(), to.port.c_str(), &hints, &found); wrong != 0) {
            return fails(gai_strerror(wrong));
        }
        const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> all(found, freeaddrinfo);
        for (const addrinfo *each = found; each != nullptr; each = each->ai_next) {
            const int made = socket(each->ai_family, each->ai_socktype | SOCK_CLOEXEC, each->ai_protocol);
            if (made < 0) {
                continue;
            }
            setsockopt(made, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
            setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
            if (connect(made, each->ai_addr, each->ai_addrlen) == 0) {
                socket_ = made;
                return true;
            }
            why_ = describe_error(errno).c_str();
            close(made);
        }
        return false;
    }

    bool send_all(std::string_view bytes)
    {
        while (!bytes.empty()) {
            const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent < 0) {
                return fails(describe_error(errno).c_str());
            }
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }

    // Of the answer only its status is of use.
    bool is_taken()
    {
        char answer[256];
        std::size_t size = 0;
        while (size < sizeof answer && std::memchr(answer, '\n', size) == nullptr) {
            const ssize_t come = recv(socket_, answer + size, sizeof answer - size, 0);
            if (come <= 0) {
                return fails(come == 0 ? "it has closed the connection" : describe_error(errno).c_str());
            }
            size += static_cast<std::size_t>(come);
        }
        const std::string_view line(answer, size);
        constexpr std::string_view version = "HTTP/1.";
        if (!line.starts_with(version) || line.size() < 12) {
            return fails("it does not speak HTTP");
        }
        const std::string_view status = line.substr(9, 3);
        return status.front() == '2' || fails("it answers with status " + std::string(status));
    }

    int socket_ = -1;
    std::string why_;
};

} // namespace

std::optional<span_collector> parse_span_collector(std::string_view url)
{
    constexpr std::string_view scheme = "http://";
    if (!url.starts_with(scheme)) {
        return std::nullopt;
    }
    url.remove_prefix(scheme.size());
    const std::size_t slash = std::min(url.find('/'), url.size());
    std::string_view host = url.substr(0, slash);
    const std::string_view path = url.substr(slash);
    std::string_view port = "4318";
    // An IPv6 address stands in brackets.
    const std::size_t bracket = host.starts_with('[') ? host.find(']') : 0;
    if (bracket == std::string_view::npos) {
        return std::nullopt;
    }
    if (const std::size_t colon = host.find(':', bracket); colon != std::string_view::npos) {
        port = host.substr(colon + 1);
        host = host.substr(0, colon);
    }
    if (host.starts_with('[')) {
        host = host.substr(1, host.size() - 2);
    }
    const auto is_digit = [](char letter) { return letter >= '0' && letter <= '9'; };
    const auto is_right = [](char letter) { return letter > ' ' && letter != '\x7f'; };
    if (host.empty() || port.empty() || port.size() > 5 || !std::ranges::all_of(port, is_digit) ||
        !std::ranges::all_of(url, is_right)) {
        return std::nullopt;
    }
    return span_collector{std::string(host), std::string(port),
                          path.empty() || path == "/" ? "/v1/traces" : std::string(path)};
}

span_exporter::span_exporter(const program &of, span_collector to) : to_(std::move(to)), writer_(of)
{
    waiting_.reserve(most_waiting);
    // Signals are for the server's own thread.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

span_exporter::~span_exporter()
{
    {
        const std::lock_guard here(taking_);
        is_over_ = true;
    }
    more_.notify_one();
    thread_.join();
}

void span_exporter::take(std::unique_ptr<span_record> record) noexcept
{
    bool wakes = false;
    {
        const std::lock_guard here(taking_);
        if (waiting_.size() == most_waiting) {
            dropped_.fetch_add(1);
            return;
        }
        waiting_.push_back(std::move(record)); // there is room
        wakes = waiting_.size() == many;
    }
    if (wakes) {
        more_.notify_one();
    }
}

void span_exporter::run() noexcept
{
    std::vector<std::unique_ptr<span_record>> taken;
    bool is_over = false;
    while (!is_over) {
        {
            std::unique_lock here(taking_);
            more_.wait_for(here, send_pause, [this] { return is_over_ || waiting_.size() >= many; });
            is_over = is_over_;
            taken.reserve(most_waiting);
            std::swap(taken, waiting_);
        }
        if (!taken.empty()) {
            send(taken);
            taken.clear();
        }
    }
}

void span_exporter::send(const std::vector<std::unique_ptr<span_record>> &flows) noexcept
{
    std::string why = "there is no memory";
    try {
        exchange with;
        if (with.post(to_, writer_.request(flows))) {
            sent_.fetch_add(flows.size());
            has_said_ = false;
            return;
        }
        why = with.why();
    } catch (const std::bad_alloc &) {
    }
    dropped_.fetch_add(flows.size());
    if (!std::exchange(has_said_, true)) {
        log_line("spans are dropped, as the collector %s:%s does not take them: %s", to_.host.c_str(), to_.port.c_str(),
                 why.c_str());
    }
}

} // namespace flux
