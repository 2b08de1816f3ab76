// The generator; generator.h explains it.
#include "generator.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <ctime>
#include <system_error>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

namespace load {

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

/// Between two looks for requests to give up.
constexpr std::int64_t give_up_step_ns = 50'000'000;

/// When a request is due that never comes.
constexpr double never_s = 1e9;

/// The longest head of an answer, in bytes.
constexpr std::size_t max_head_bytes = 65'536;

std::int64_t now_ns()
{
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::int64_t>(now.tv_sec) * second_ns + now.tv_nsec;
}

std::int64_t to_ns(double seconds)
{
    return static_cast<std::int64_t>(std::llround(seconds * static_cast<double>(second_ns)));
}

[[noreturn]] void throw_errno(const char *what)
{
    throw std::system_error(errno, std::generic_category(), what);
}

addrinfo *look_up(const options &options)
{
    addrinfo hints{};
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo *found = nullptr;
    if (const int error = getaddrinfo(options.host.c_str(), options.port.c_str(), &hints, &found); error != 0)
        throw std::system_error(EINVAL, std::generic_category(),
                                options.host + " port " + options.port + ": " + gai_strerror(error));
    return found;
}

} // namespace

generator::generator(const options &options)
    : options_(options), address_(look_up(options), freeaddrinfo), random_(options.seed)
{
    const bool is_ipv6 = options.host.find(':') != std::string::npos;
    const std::string authority = (is_ipv6 ? "[" + options.host + "]" : options.host) + ":" + options.port;
    for (const std::string &target : options.targets)
        heads_.push_back("GET " + target + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_ < 0)
        throw_errno("epoll_create1");
    // Else the kernel may round each wait up by 50 microseconds.
    prctl(PR_SET_TIMERSLACK, 1UL);
}

generator::~generator()
{
    for (const auto &client : clients_)
        close(*client);
    ::close(epoll_);
}

result generator::run()
{
    start_ns_ = now_ns();
    measure_from_ns_ = start_ns_ + to_ns(options_.warmup_s);
    measure_to_ns_ = measure_from_ns_ + to_ns(options_.duration_s);
    if (options_.closed == 0)
        set_next_due();
    std::int64_t now = start_ns_;
    do {
        mark_progress(now);
        if (now >= next_give_up_ns_)
            give_up(now);
        if (options_.closed > 0)
            keep_closed_loop_full(now);
        else
            take_due(now);
        start_waiting();
        wait(now);
        now = now_ns();
    } while (now < measure_to_ns_ || has_more_due() || busy_ > 0 || !waiting_.empty());
    mark_progress(now);
    return std::move(result_);
}

/// Starts and ends the measured time.
void generator::mark_progress(std::int64_t now)
{
    if (phase_ == phase::before && now >= measure_from_ns_) {
        phase_ = phase::during;
        measure_started_ns_ = now;
        processor_before_s_ = options_.pid != 0 ? processor_time_s(options_.pid) : -1;
    }
    if (phase_ == phase::during && now >= measure_to_ns_) {
        phase_ = phase::after;
        result_.measured_s = static_cast<double>(now - measure_started_ns_) / static_cast<double>(second_ns);
        const double processor_after_s = options_.pid != 0 ? processor_time_s(options_.pid) : -1;
        if (processor_before_s_ >= 0 && processor_after_s >= 0)
            result_.processor_s = processor_after_s - processor_before_s_;
    }
}

request generator::make_request(std::int64_t due_ns)
{
    request made;
    made.due_ns = due_ns;
    made.is_measured = due_ns >= measure_from_ns_;
    made.number = made_++;
    if (!options_.each.empty())
        result_.each.push_back({.due_s = static_cast<double>(due_ns - start_ns_) / static_cast<double>(second_ns)});
    made.target = std::uniform_int_distribution<std::size_t>(0, heads_.size() - 1)(random_);
    result_.requests += made.is_measured ? 1 : 0;
    return made;
}

/// Open loop: queues the requests whose time has come.
void generator::take_due(std::int64_t now)
{
    for (;;) {
        const std::int64_t due_ns = next_due_ns();
        if (due_ns > now || !has_more_due())
            return;
        result_.worst_lag_ns = std::max(result_.worst_lag_ns, now - due_ns);
        waiting_.push_back(make_request(due_ns));
        ++next_number_;
        set_next_due();
    }
}

/// Open loop: when the request of `next_number_` is due. In a closed one none ever is.
void generator::set_next_due()
{
    if (!options_.due_s.empty())
        next_due_s_ = next_number_ < options_.due_s.size() ? options_.due_s[next_number_] : never_s;
    else if (options_.poisson && next_number_ > 0)
        next_due_s_ += std::exponential_distribution<double>(options_.rate)(random_);
    else
        next_due_s_ = static_cast<double>(next_number_) / options_.rate;
}

std::int64_t generator::next_due_ns() const
{
    return start_ns_ + to_ns(next_due_s_);
}

/// Whether there are requests that were not queued yet. In a closed loop none is ever due.
bool generator::has_more_due() const
{
    return options_.closed == 0 && next_due_ns() < measure_to_ns_;
}

/// Closed loop: a request for each connection that has none.
void generator::keep_closed_loop_full(std::int64_t now)
{
    while (now < measure_to_ns_ && now >= rest_until_ns_ && busy_ + waiting_.size() < options_.closed)
        waiting_.push_back(make_request(now));
}

/// Starts requests that wait, as long as there are connections for them.
void generator::start_waiting()
{
    const std::size_t most = options_.closed > 0 ? options_.closed : options_.connections;
    while (!waiting_.empty() && (!idle_.empty() || clients_.size() < most)) {
        if (idle_.empty())
            idle_.push_back(clients_.emplace_back(std::make_unique<client>()).get());
        client &next = *idle_.back();
        idle_.pop_back();
        next.current = waiting_.front();
        waiting_.pop_front();
        start(next);
    }
}

void generator::start(client &client)
{
    ++busy_;
    client.is_busy = true;
    client.unsent = heads_[client.current.target];
    client.head.clear();
    client.is_in_body = false;
    if (client.socket < 0)
        connect(client);
    else
        send(client);
}

/// Opens a connection; the request goes out when it is there.
void generator::connect(client &client)
{
    client.socket = ::socket(address_->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (client.socket < 0)
        throw_errno("socket");
    const int on = 1;
    setsockopt(client.socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    client.watched = EPOLLIN | EPOLLOUT;
    epoll_event event{.events = client.watched, .data = {.ptr = &client}};
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, client.socket, &event) != 0)
        throw_errno("epoll_ctl");
    if (::connect(client.socket, address_->ai_addr, address_->ai_addrlen) != 0 && errno != EINPROGRESS)
        end_request(client, false);
}

void generator::send(client &client)
{
    while (!client.unsent.empty()) {
        const ssize_t sent = ::send(client.socket, client.unsent.data(), client.unsent.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN) {
            end_request(client, false);
            return;
        }
        if (sent < 0)
            break;
        client.unsent.remove_prefix(static_cast<std::size_t>(sent));
    }
    const std::uint32_t wanted = client.unsent.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT;
    if (wanted == client.watched)
        return;
    client.watched = wanted;
    epoll_event event{.events = wanted, .data = {.ptr = &client}};
    if (epoll_ctl(epoll_, EPOLL_CTL_MOD, client.socket, &event) != 0)
        throw_errno("epoll_ctl");
}

void generator::receive(client &client)
{
    const ssize_t received = recv(client.socket, buffer_.data(), buffer_.size(), 0);
    if (received < 0 && errno == EAGAIN)
        return;
    if (!client.is_busy) {
        // The server closes a connection that was idle, or sends what nobody asked for.
        close(client);
        return;
    }
    bool is_good = received > 0;
    if (is_good) {
        result_.received_bytes += static_cast<std::uint64_t>(received);
        is_good = take_answer(client, {buffer_.data(), static_cast<std::size_t>(received)});
    }
    if (!is_good)
        end_request(client, false);
    else if (client.is_in_body && client.missing_bytes == 0)
        end_request(client, true);
}

/// Takes a part of an answer. False where it is not one.
bool generator::take_answer(client &client, std::string_view bytes)
{
    if (!client.is_in_body) {
        client.head.append(bytes);
        const std::size_t end = client.head.find("\r\n\r\n");
        if (end == std::string::npos)
            return client.head.size() <= max_head_bytes;
        bytes.remove_prefix(bytes.size() - (client.head.size() - (end + 4)));
        client.head.resize(end + 4);
        if (!parse_head(client))
            return false;
    }
    if (bytes.size() > client.missing_bytes)
        return false;
    client.missing_bytes -= bytes.size();
    return true;
}

/// Parses the head of an answer. False where it is none, or does not tell the length of its body.
bool generator::parse_head(client &client)
{
    namespace http = boost::beast::http;
    http::response_parser<http::empty_body> parser;
    parser.body_limit(UINT64_MAX);
    boost::beast::error_code error;
    parser.put(boost::asio::buffer(client.head), error);
    if (error || !parser.is_header_done() || !parser.content_length())
        return false;
    client.status = parser.get().result_int();
    client.missing_bytes = *parser.content_length();
    client.keep_alive = parser.get().keep_alive();
    client.is_in_body = true;
    return true;
}

/// The request of `client` has its answer, or has failed.
void generator::end_request(client &client, bool has_answer)
{
    const std::int64_t now = now_ns();
    if (has_answer && now >= measure_from_ns_ && now < measure_to_ns_)
        ++result_.answers_in_time;
    if (has_answer && !options_.each.empty())
        result_.each[client.current.number].latency_s =
            static_cast<double>(now - client.current.due_ns) / static_cast<double>(second_ns);
    if (client.current.is_measured) {
        if (has_answer)
            result_.latency.add(now - client.current.due_ns);
        ++(!has_answer ? result_.failed : client.status == 200 ? result_.answered : result_.other_status);
    }
    if (!has_answer)
        rest_until_ns_ = now + give_up_step_ns;
    if (!has_answer || !client.keep_alive)
        close(client);
    release(client);
}

void generator::close(client &client)
{
    if (client.socket >= 0)
        ::close(client.socket);
    client.socket = -1;
}

void generator::release(client &client)
{
    --busy_;
    client.is_busy = false;
    idle_.push_back(&client);
}

/// Gives up the requests that have waited too long. Their waiting counts: to leave it out would flatter the server.
void generator::give_up(std::int64_t now)
{
    next_give_up_ns_ = now + give_up_step_ns;
    const std::int64_t due_before_ns = now - to_ns(options_.timeout_s);
    const auto count = [this, now](const request &request) {
        if (request.is_measured) {
            ++result_.unanswered;
            result_.latency.add(now - request.due_ns);
        }
    };
    for (const auto &client : clients_) {
        if (client->is_busy && client->current.due_ns <= due_before_ns) {
            count(client->current);
            close(*client);
            release(*client);
        }
    }
    while (!waiting_.empty() && waiting_.front().due_ns <= due_before_ns) {
        count(waiting_.front());
        waiting_.pop_front();
    }
}

/// Waits for the network, at most until something is due.
void generator::wait(std::int64_t now)
{
    std::int64_t until = next_give_up_ns_;
    if (phase_ != phase::after)
        until = std::min(until, phase_ == phase::before ? measure_from_ns_ : measure_to_ns_);
    if (has_more_due())
        until = std::min(until, next_due_ns());
    const std::int64_t left_ns = std::max<std::int64_t>(until - now, 0);
    const timespec limit{left_ns / second_ns, left_ns % second_ns};
    std::array<epoll_event, 256> events;
    const int count = epoll_pwait2(epoll_, events.data(), static_cast<int>(events.size()), &limit, nullptr);
    if (count < 0 && errno != EINTR)
        throw_errno("epoll_pwait2");
    for (int at = 0; at < count; ++at) {
        const epoll_event &event = events[static_cast<std::size_t>(at)];
        client &ready = *static_cast<client *>(event.data.ptr);
        if (ready.is_busy && (event.events & EPOLLOUT) != 0 && (event.events & EPOLLERR) == 0)
            send(ready);
        if (ready.socket >= 0 && (event.events & ~EPOLLOUT) != 0)
            receive(ready);
    }
}

} // namespace load
