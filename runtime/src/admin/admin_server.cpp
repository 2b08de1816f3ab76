#include "flux/admin/admin_server.hpp"

#include "flux/insight/formatted_text.hpp"
#include "flux/log.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <exception>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace flux {
namespace {

/// Where there are no descriptors, the next peer is accepted so much later.
constexpr std::chrono::milliseconds accept_pause{100};
/// So much is received at once.
constexpr std::size_t portion = 4096;

public_socket listen_at(const address &at)
{
    io_result<public_socket> opened = open_listener(at);
    if (!opened.has_value()) {
        throw std::system_error(opened.error(), std::generic_category(),
                                "the admin interface cannot listen at " + at.text());
    }
    return *std::move(opened);
}

// Whether only this machine reaches the address.
bool is_of_this_machine(const address &at) noexcept
{
    if (at.storage.ss_family == AF_INET) {
        const auto &ip4 = reinterpret_cast<const sockaddr_in &>(at.storage);
        return ntohl(ip4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    }
    const auto &ip6 = reinterpret_cast<const sockaddr_in6 &>(at.storage);
    return at.storage.ss_family == AF_UNIX || IN6_IS_ADDR_LOOPBACK(&ip6.sin6_addr);
}

const char *reason_of(int status) noexcept
{
    switch (status) {
    case 200:
        return "OK";
    case 400:
        return "Bad Request";
    case 403:
        return "Forbidden";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 431:
        return "Request Header Fields Too Large";
    case 503:
        return "Service Unavailable";
    case 505:
        return "HTTP Version Not Supported";
    default:
        return "Internal Server Error";
    }
}

admin_answer refusal(int status, std::string why)
{
    return {status, "text/plain; charset=utf-8", std::move(why) + "\n"};
}

// With what keeps a browser from using it for anything but what it is: no other site may show it, read it, or have it
// taken for a script; and its pages load nothing from elsewhere.
std::string whole(const admin_answer &answer, bool with_body)
{
    formatted_text head;
    head.add("HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n"
             "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
             "Cross-Origin-Resource-Policy: same-origin\r\n"
             "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
             "connect-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'\r\n%s\r\n",
             answer.status, reason_of(answer.status), answer.type.c_str(), answer.body.size(),
             answer.status == 405 ? "Allow: GET, HEAD, POST\r\n" : "");
    return with_body ? head.all + answer.body : head.all;
}

} // namespace

admin_server::admin_server(const address &at, admin_pages pages, std::chrono::milliseconds patience)
    : pages_(std::move(pages)), patience_(patience), listener_(listen_at(at)), at_(local_address(listener_)),
      is_local_(is_of_this_machine(at_)), ended_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
    if (ended_.get() < 0) {
        throw std::system_error(errno, std::generic_category(), "the admin interface");
    }
    clients_.reserve(most_connections);
    // Signals are for the main thread.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        thread_ = std::thread([this] { run(); });
    } catch (...) {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

admin_server::~admin_server()
{
    const std::uint64_t once = 1;
    [[maybe_unused]] const ssize_t written = write(ended_.get(), &once, sizeof once);
    thread_.join();
}

void admin_server::run() noexcept
{
    std::array<pollfd, most_connections + 2> waits;
    while (true) {
        moment until = never;
        waits[0] = {ended_.get(), POLLIN, 0};
        const bool accepts = clients_.size() < most_connections && clock::now() >= accepts_from_;
        waits[1] = {accepts ? listener_.get() : -1, POLLIN, 0};
        if (!accepts && clients_.size() < most_connections) {
            until = accepts_from_;
        }
        for (std::size_t each = 0; each < clients_.size(); ++each) {
            const short events = clients_[each].at == client::stage::is_answered ? POLLOUT : POLLIN;
            waits[each + 2] = {clients_[each].socket.get(), events, 0};
            until = std::min(until, clients_[each].until);
        }
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now());
        const int timeout = until == never ? -1 : static_cast<int>(std::max<std::int64_t>(left.count(), 0));
        poll(waits.data(), clients_.size() + 2, timeout);
        if (waits[0].revents != 0) {
            return;
        }
        // From the last to the first: those that end are taken out.
        for (std::size_t each = clients_.size(); each-- > 0;) {
            client &one = clients_[each];
            const bool is_late = clock::now() >= one.until;
            if (is_late || (waits[each + 2].revents != 0 && !go_on(one))) {
                std::swap(one, clients_.back());
                clients_.pop_back();
            }
        }
        if (waits[1].revents != 0) {
            accept_one();
        }
    }
}

void admin_server::accept_one() noexcept
{
    address peer;
    io_result<descriptor> accepted = try_accept(listener_, peer);
    if (accepted.has_value()) {
        clients_.push_back({*std::move(accepted), clock::now() + patience_});
    } else if (accepted.error() != EAGAIN) {
        log_rarely("the admin interface accepts nobody: %s", std::generic_category().message(accepted.error()).c_str());
        accepts_from_ = clock::now() + accept_pause;
    }
}

// False where the client is to be cut off.
bool admin_server::go_on(client &with)
{
    try {
        return with.at == client::stage::is_answered ? send(with) : receive(with);
    } catch (const std::exception &) {
        return false; // without memory
    }
}

bool admin_server::receive(client &from)
{
    std::array<std::byte, portion> bytes;
    const io_result<std::size_t> received = try_receive(from.socket, bytes);
    if (!received.has_value()) {
        return received.error() == EAGAIN;
    }
    if (*received == 0) {
        return false;
    }
    if (from.at == client::stage::ends) {
        return true; // nobody reads what else it says
    }
    from.bytes.append(reinterpret_cast<const char *>(bytes.data()), *received);
    const admin_reading read = read_admin_request(from.bytes);
    if (read.status == 100) {
        return true;
    }
    from.bytes = answer_to(read);
    from.at = client::stage::is_answered;
    return send(from);
}

bool admin_server::send(client &to) noexcept
{
    while (to.sent < to.bytes.size()) {
        const iovec left{to.bytes.data() + to.sent, to.bytes.size() - to.sent};
        const io_result<std::size_t> sent = try_send(to.socket, {&left, 1});
        if (!sent.has_value()) {
            return sent.error() == EAGAIN;
        }
        to.sent += *sent;
    }
    // It ends when the client has seen all of it: to close what has not been read would take the answer back.
    shutdown(to.socket.get(), SHUT_WR);
    to.at = client::stage::ends;
    return true;
}

std::string admin_server::answer_to(const admin_reading &read) const
{
    const admin_request &request = read.request;
    if (read.status != 0) {
        return whole(refusal(read.status, reason_of(read.status)), true);
    }
    if (is_foreign(request, is_local_)) {
        return whole(refusal(403, "This is for those who come to it directly: the request was made by another site, or "
                                  "for another name than that of this machine."),
                     true);
    }
    const bool with_body = request.method != "HEAD";
    const bool changes = request.method == "POST";
    if (with_body && !changes && request.method != "GET") {
        return whole(refusal(405, "There is nothing here but to GET, and to POST what changes the server."), true);
    }
    if (changes && !is_local_) {
        return whole(refusal(403, "The server can only be changed where its own machine alone reaches this address."),
                     true);
    }
    try {
        return whole(pages_(request), with_body);
    } catch (const std::exception &problem) {
        return whole(refusal(500, problem.what()), with_body);
    }
}

} // namespace flux
