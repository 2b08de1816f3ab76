#include "flux/io/blocking_io.hpp"

#include "flux/io/accept_policy.hpp"
#include "flux/io/send_file.hpp"
#include "flux/io/server_io.hpp"
#include "flux/error.hpp"
#include "flux/flow/flow.hpp"
#include "flux/log.hpp"
#include "flux/io/park.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <memory>
#include <new>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <system_error>

namespace flux {
namespace {

moment bounded(moment deadline) noexcept
{
    return running_flow == nullptr ? deadline : std::min(deadline, running_flow->deadline());
}

// A source that is to stop is cancelled, and its thread interrupted, again and again.
bool is_cancelled() noexcept
{
    return running_flow != nullptr && running_flow->cancelled();
}

// The thread is about to wait for the world: counts that, and the time until what it gives ends.
time_away begin_wait() noexcept
{
    if (running_flow != nullptr) {
        running_flow->count_park();
    }
    return {running_flow != nullptr ? &running_flow->timing() : nullptr, time_kind::parked};
}

std::chrono::nanoseconds time_to(moment deadline) noexcept
{
    const moment now = clock::now();
    // The difference to `moment::min()` is none.
    return deadline <= now ? clock::duration::zero() : deadline - now;
}

/// Waits until the descriptor is ready for these events of `poll`: 0, or the error that the wait ended with.
int wait_for(const descriptor &awaited, short events, moment deadline) noexcept
{
    const moment until = bounded(deadline);
    const descriptor &cancelled = server_io::current()->waits.cancelled();
    const time_away parked = begin_wait();
    while (!is_cancelled()) {
        pollfd either[] = {{awaited.get(), events, 0}, {cancelled.get(), POLLIN, 0}};
        const std::timespec remaining = timespec_of(time_to(until));
        const int ready = ppoll(either, std::size(either), until == never ? nullptr : &remaining, nullptr);
        if (ready > 0) {
            return either[1].revents != 0 ? ECANCELED : 0;
        }
        if (ready == 0) {
            return ETIMEDOUT;
        }
        if (errno != EINTR) {
            return errno;
        }
    }
    return ECANCELED;
}

/// Calls `attempt` until it gives something else than EAGAIN, waiting in between.
template <class Attempt>
auto insist(const descriptor &on, short events, moment deadline, Attempt attempt) noexcept -> decltype(attempt())
{
    while (true) {
        auto result = attempt();
        if (result.has_value() || result.error() != EAGAIN) {
            return result;
        }
        if (const int error = wait_for(on, events, deadline); error != 0) {
            return unexpected(error);
        }
    }
}

class blocking_stream final : public stream
{
  public:
    explicit blocking_stream(descriptor socket) noexcept : socket_(std::move(socket)) {}

    io_result<std::size_t> do_receive(std::span<std::byte> into, moment deadline) noexcept override
    {
        return insist(socket_, POLLIN, deadline, [&] { return try_receive(socket_, into); });
    }

    io_result<void> do_send(std::span<iovec> parts, moment deadline) noexcept override
    {
        while (!parts.empty()) {
            const auto sent = insist(socket_, POLLOUT, deadline, [&] { return try_send(socket_, parts); });
            if (!sent.has_value()) {
                return unexpected(sent.error());
            }
            parts = drop_first(parts, *sent);
            if (const int error = parts.empty() ? 0 : refill_io_budget(deadline); error != 0) {
                return unexpected(error);
            }
        }
        return {};
    }

    std::size_t send_at_once(std::string_view bytes) noexcept override
    {
        const iovec part{const_cast<char *>(bytes.data()), bytes.size()};
        const io_result<std::size_t> sent = try_send(socket_, {&part, 1});
        return sent.has_value() ? *sent : sent.error() == EAGAIN ? 0 : bytes.size();
    }

    void cut() noexcept override { shutdown(socket_.get(), SHUT_RDWR); }

    io_result<void> do_send_file(std::string_view before, file_part part, moment deadline) noexcept override
    {
        return send_with_file(socket_, before, part, deadline, [&] { return wait_for(socket_, POLLOUT, deadline); });
    }

    void end_output() noexcept override { shutdown(socket_.get(), SHUT_WR); }
    bool has_input() noexcept override { return socket_has_input(socket_); }

    const descriptor &socket() const noexcept { return socket_; }

    /// Who is notified when there is input; null where nobody is. Once watched, epoll knows the stream to its end.
    std::atomic<void *> owner{nullptr};
    bool known = false;

  private:
    const descriptor socket_;
};

class blocking_listener final : public listener
{
  public:
    explicit blocking_listener(public_socket socket) noexcept : socket_(std::move(socket)) {}

    address local() const noexcept override { return local_address(socket_); }
    const descriptor &socket() const noexcept { return socket_; }

  private:
    const public_socket socket_;
};

class blocking_datagram_socket final : public datagram_socket
{
  public:
    explicit blocking_datagram_socket(public_socket socket) noexcept : socket_(std::move(socket)) {}

    io_result<datagram> do_receive(std::span<std::byte> into, moment deadline) noexcept override
    {
        return insist(socket_, POLLIN, deadline, [&] { return try_receive_from(socket_, into); });
    }

    io_result<void> do_send(std::span<const std::byte> message, const address &to, moment deadline) noexcept override
    {
        return insist(socket_, POLLOUT, deadline, [&] { return try_send_to(socket_, message, to); });
    }

    address local() const noexcept override { return local_address(socket_); }

  private:
    const public_socket socket_;
};

class blocking_arrivals final : public arrivals, private accept_place
{
  public:
    blocking_arrivals() : epoll_(epoll_create1(EPOLL_CLOEXEC)), bell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
    {
        if (epoll_.get() < 0 || bell_.get() < 0) {
            throw std::system_error(errno, std::generic_category(), "epoll_create1");
        }
    }

    ~blocking_arrivals() override
    {
        if (listener_ != nullptr) {
            entrances_->remove(*this);
        }
    }

    io_result<void> watch(listener &from) noexcept override
    {
        try {
            entrances_->add(*this);
        } catch (const std::bad_alloc &) {
            return unexpected(ENOMEM);
        }
        listener_ = &static_cast<blocking_listener &>(from);
        control(EPOLL_CTL_ADD, bell_, EPOLLIN | EPOLLET, nullptr);
        return control(EPOLL_CTL_ADD, listener_->socket(), EPOLLIN, nullptr);
    }

    io_result<void> watch(stream &idle, void *owner, bool soon) noexcept override
    {
        auto &watched = static_cast<blocking_stream &>(idle);
        // From the last call on it may belong to the source.
        const int operation = watched.known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
        watched.known = true;
        watched.owner.store(owner, std::memory_order_release);
        // Soon is when something can be sent: as long as the peer takes no answers, there is no use in asking more.
        const std::uint32_t events = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT | (soon ? std::uint32_t{EPOLLOUT} : 0);
        return control(operation, watched.socket(), events, &watched);
    }

    bool forget(stream &idle) noexcept override
    {
        auto &watched = static_cast<blocking_stream &>(idle);
        const auto is_of = [&](const epoll_event &each) { return each.data.ptr == &watched; };
        const auto end = std::remove_if(events_.begin() + next_, events_.begin() + count_, is_of);
        count_ = end - events_.begin();
        if (watched.owner.exchange(nullptr) == nullptr) {
            return false;
        }
        // Once closed it would be in epoll as long as a child has it, and notify when it is gone.
        watched.known = false;
        control(EPOLL_CTL_DEL, watched.socket(), 0, nullptr);
        return true;
    }

    // Epoll notifies `next`, which gives at once.
    void *next_ready() noexcept override { return nullptr; }

    io_result<arrival> next(moment deadline) noexcept override
    {
        while (true) {
            while (next_ < count_) {
                auto *const ready = static_cast<blocking_stream *>(events_[static_cast<std::size_t>(next_++)].data.ptr);
                if (ready == nullptr && !drained_) {
                    draining_ = draining_ || entrances_->drains();
                    std::unique_ptr<newcomer> somebody;
                    if (const int error = accept(somebody); error == 0) {
                        // Until nobody waits there it is looked again.
                        next_ -= draining_ ? 1 : 0;
                        return arrival{std::move(somebody)};
                    } else if (error != EAGAIN) {
                        back_off(error);
                    } else if (draining_) {
                        drained_ = true;
                        control(EPOLL_CTL_DEL, listener_->socket(), 0, nullptr);
                        return arrival{};
                    }
                } else if (ready == nullptr) {
                    continue;
                } else if (void *const owner = ready->owner.exchange(nullptr, std::memory_order_acquire)) {
                    return arrival{nullptr, owner};
                }
            }
            const int error = fetch(std::min(bounded(deadline), try_again_));
            if (error == ETIMEDOUT && clock::now() >= try_again_) {
                try_again_ = never;
                listen_again();
            } else if (error != 0) {
                return unexpected(error);
            }
        }
    }

  private:
    // Each stroke can be seen by a wait for edges.
    void look() noexcept override { eventfd_write(bell_.get(), 1); }

    io_result<void> control(int operation, const descriptor &of, std::uint32_t events, void *data) noexcept
    {
        epoll_event event{};
        event.events = events;
        event.data.ptr = data;
        if (epoll_ctl(epoll_.get(), operation, of.get(), &event) != 0) {
            return unexpected(errno);
        }
        return {};
    }

    // 0 or an error, EAGAIN where nobody is there.
    int accept(std::unique_ptr<newcomer> &somebody) noexcept
    {
        somebody.reset(new (std::nothrow) newcomer);
        if (somebody == nullptr) {
            return ENOMEM;
        }
        io_result<descriptor> accepted = try_accept(listener_->socket(), somebody->from);
        if (!accepted.has_value()) {
            return accepted.error();
        }
        somebody->accepted.reset(new (std::nothrow) blocking_stream(std::move(*std::move(accepted))));
        return somebody->accepted == nullptr ? ENOMEM : 0;
    }

    // For a while nobody is notified of new peers.
    void back_off(int error) noexcept
    {
        log_rarely("connections wait, as none can be accepted: %s", describe_error(error).c_str());
        try_again_ = clock::now() + accept_policy::backoff;
        control(EPOLL_CTL_MOD, listener_->socket(), 0, nullptr);
    }

    void listen_again() noexcept { control(EPOLL_CTL_MOD, listener_->socket(), EPOLLIN, nullptr); }

    int fetch(moment until) noexcept
    {
        next_ = 0;
        count_ = 0;
        if (is_cancelled()) {
            return ECANCELED;
        }
        const time_away parked = begin_wait();
        const int came = wait_for_events(epoll_, events_, until);
        if (came < 0) {
            return errno != EINTR ? errno : is_cancelled() ? ECANCELED : 0;
        }
        count_ = came;
        return came == 0 ? ETIMEDOUT : 0;
    }

    const std::shared_ptr<accepting> entrances_ = current_part(&server_io::entrances);
    const descriptor epoll_;
    blocking_listener *listener_ = nullptr;
    // It notifies as the listener does.
    const descriptor bell_;
    // Only those are to be accepted yet who wait; then nobody is any more.
    bool draining_ = false;
    bool drained_ = false;
    // What has come and `next` has not given yet, from `next_` to `count_`.
    std::array<epoll_event, 64> events_;
    std::ptrdiff_t next_ = 0;
    std::ptrdiff_t count_ = 0;
    // When to accept again after that has failed.
    moment try_again_ = never;
};

template <class Made, class Interface, class Opened>
io_result<std::unique_ptr<Interface>> made_of(io_result<Opened> opened) noexcept
{
    if (!opened.has_value()) {
        return unexpected(opened.error());
    }
    std::unique_ptr<Interface> made(new (std::nothrow) Made(std::move(*std::move(opened))));
    if (made == nullptr) {
        return unexpected(ENOMEM);
    }
    return made;
}

class blocking final : public io
{
  public:
    const char *name() const noexcept override { return "sync"; }
    moment now() const noexcept override { return clock::now(); }
    bool is_of_one_thread() const noexcept override { return false; }

    io_result<std::unique_ptr<listener>> listen(const address &at) noexcept override
    {
        return made_of<blocking_listener, listener>(open_listener(at));
    }

    io_result<std::unique_ptr<stream>> connect(const address &to, moment deadline) noexcept override
    {
        io_result<descriptor> opened = open_stream_socket(to);
        if (!opened.has_value()) {
            return unexpected(opened.error());
        }
        int error = begin_connect(*opened, to);
        if (error == EINPROGRESS) {
            error = wait_for(*opened, POLLOUT, deadline);
            error = error != 0 ? error : connect_error(*opened);
        }
        if (error != 0) {
            return unexpected(error);
        }
        return made_of<blocking_stream, stream>(std::move(opened));
    }

    io_result<std::unique_ptr<datagram_socket>> bind(const address &at) noexcept override
    {
        return made_of<blocking_datagram_socket, datagram_socket>(open_datagram_socket(at, sharing::none));
    }

    std::unique_ptr<arrivals> make_arrivals() override { return std::make_unique<blocking_arrivals>(); }
};

} // namespace

io &blocking_io() noexcept
{
    static blocking one;
    return one;
}

blocking_waits::blocking_waits() noexcept : cancelled_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void blocking_waits::cancel() noexcept
{
    eventfd_write(cancelled_.get(), 1);
}

} // namespace flux
