#include "flux/io/reactor.hpp"

#include "flux/io/accepting.hpp"
#include "flux/io/direction.hpp"
#include "flux/error.hpp"
#include "flux/log.hpp"
#include "flux/io/socket.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <utility>
#include <vector>

namespace flux {
namespace {

constexpr std::uint32_t ends = EPOLLRDHUP | EPOLLHUP | EPOLLERR;

/// What epoll tells of a descriptor.
class watched
{
  public:
    virtual void came(std::uint32_t events) noexcept = 0;

  protected:
    ~watched() = default;
};

/// The epoll instance of a loop.
class interest
{
  public:
    interest() : epoll_(epoll_create1(EPOLL_CLOEXEC))
    {
        if (epoll_.get() < 0) {
            throw std::system_error(errno, std::generic_category(), "epoll_create1");
        }
    }

    /// Until the descriptor is closed.
    io_result<void> add(const descriptor &of, std::uint32_t events, watched &told) noexcept
    {
        epoll_event event{};
        event.events = events;
        event.data.ptr = &told;
        if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, of.get(), &event) != 0) {
            return unexpected(errno);
        }
        return {};
    }

    void remove(const descriptor &of) noexcept { epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, of.get(), nullptr); }

    void fetch(moment until) noexcept
    {
        const int came = wait_for_events(epoll_, events_, until);
        count_ = came < 0 ? 0 : static_cast<std::size_t>(came); // by a signal, say
    }

    void deliver() noexcept
    {
        // No flow runs meanwhile, so nothing that was told of is closed before it is.
        for (std::size_t each = 0; each < count_; ++each) {
            static_cast<watched *>(events_[each].data.ptr)->came(events_[each].events);
        }
        count_ = 0;
    }

  private:
    const descriptor epoll_;
    std::array<epoll_event, 256> events_;
    std::size_t count_ = 0;
};

class reactor_arrivals;

/// All arrivals of a loop.
using arrivals_row = std::vector<reactor_arrivals *>;

class reactor_stream final : public stream, public watched
{
  public:
    explicit reactor_stream(descriptor socket) noexcept : socket_(std::move(socket)) {}

    io_result<void> join(interest &of) noexcept
    {
        return of.add(socket_, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, *this);
    }

    int finish_connect(moment deadline) noexcept
    {
        output_.open = false;
        const int error = output_.wait(deadline);
        return error != 0 ? error : connect_error(socket_);
    }

    const descriptor &socket() const noexcept { return socket_; }

    io_result<std::size_t> receive(std::span<std::byte> into, moment deadline) noexcept override
    {
        while (true) {
            if (const int error = input_.wait(deadline); error != 0) {
                return unexpected(error);
            }
            const io_result<std::size_t> count = try_receive(socket_, into);
            if (count.has_value() || count.error() != EAGAIN) {
                // Less than there is room for is all there was; but the end is told only once.
                input_.open = ended_ || !count.has_value() || *count == into.size();
                return count;
            }
            input_.open = false;
        }
    }

    io_result<void> send(std::span<iovec> parts, moment deadline) noexcept override
    {
        while (!parts.empty()) {
            if (const int error = output_.wait(deadline); error != 0) {
                return unexpected(error);
            }
            const io_result<std::span<iovec>> left = try_send(socket_, parts);
            if (!left.has_value() && left.error() != EAGAIN) {
                return unexpected(left.error());
            }
            parts = left.has_value() ? *left : parts;
            output_.open = left.has_value();
        }
        return {};
    }

    void end_output() noexcept override { shutdown(socket_.get(), SHUT_WR); }

    bool has_input() noexcept override
    {
        input_.open = input_.open || socket_has_input(socket_);
        return input_.open;
    }

    void came(std::uint32_t events) noexcept override;

    /// Tells these arrivals once, when there is input or at once.
    void tell(reactor_arrivals &told, void *whom, bool at_once) noexcept;

    /// Tells nobody any more: whom it would have told.
    reactor_arrivals *tell_nobody() noexcept { return std::exchange(told_, nullptr); }

    void *owner = nullptr;
    /// Its neighbour in the row of those that are told.
    reactor_stream *next = nullptr;

  private:
    const descriptor socket_;
    direction input_;
    direction output_{true};
    bool ended_ = false;
    reactor_arrivals *told_ = nullptr;
};

class reactor_listener final : public listener
{
  public:
    explicit reactor_listener(public_socket socket) noexcept : socket_(std::move(socket)) {}

    address local() const noexcept override { return local_address(socket_); }
    const descriptor &socket() const noexcept { return socket_; }

  private:
    const public_socket socket_;
};

class reactor_datagram_socket final : public datagram_socket, public watched
{
  public:
    explicit reactor_datagram_socket(public_socket socket) noexcept : socket_(std::move(socket)) {}

    io_result<void> join(interest &of) noexcept { return of.add(socket_, EPOLLIN | EPOLLOUT | EPOLLET, *this); }

    io_result<datagram> receive(std::span<std::byte> into, moment deadline) noexcept override
    {
        return insist(input_, deadline, [&] { return try_receive_from(socket_, into); });
    }

    io_result<void> send(std::span<const std::byte> message, const address &to, moment deadline) noexcept override
    {
        return insist(output_, deadline, [&] { return try_send_to(socket_, message, to); });
    }

    address local() const noexcept override { return local_address(socket_); }

    void came(std::uint32_t events) noexcept override
    {
        if ((events & (EPOLLIN | ends)) != 0) {
            input_.set();
        }
        if ((events & (EPOLLOUT | ends)) != 0) {
            output_.set();
        }
    }

  private:
    // Calls `attempt` until it gives something else than EAGAIN.
    template <class Attempt>
    static auto insist(direction &through, moment deadline, Attempt attempt) noexcept -> decltype(attempt())
    {
        while (true) {
            if (const int error = through.wait(deadline); error != 0) {
                return unexpected(error);
            }
            auto result = attempt();
            if (result.has_value() || result.error() != EAGAIN) {
                return result;
            }
            through.open = false;
        }
    }

    const public_socket socket_;
    direction input_;
    direction output_{true};
};

class reactor_arrivals final : public arrivals, public watched
{
  public:
    reactor_arrivals(interest &of, arrivals_row &all) : interest_(of), all_(all) { all_.push_back(this); }

    ~reactor_arrivals() override
    {
        std::erase(all_, this);
        if (listener_ != nullptr) {
            interest_.remove(listener_->socket());
            interest_.remove(bell_);
        }
    }

    io_result<void> watch(listener &from) noexcept override
    {
        listener_ = &static_cast<reactor_listener &>(from);
        bell_ = bell_of_listeners();
        interest_.add(bell_, EPOLLIN | EPOLLET, told_by_bell_);
        // Of the loops that wait for it one is told of each new peer.
        return interest_.add(listener_->socket(), EPOLLIN | EPOLLET | EPOLLEXCLUSIVE, *this);
    }

    io_result<void> watch(stream &idle, void *owner, bool soon) noexcept override
    {
        static_cast<reactor_stream &>(idle).tell(*this, owner, soon);
        return {};
    }

    bool forget(stream &idle) noexcept override
    {
        return static_cast<reactor_stream &>(idle).tell_nobody() != nullptr;
    }

    void *next_told() noexcept override
    {
        return first_ == nullptr ? nullptr : std::exchange(first_, first_->next)->owner;
    }

    io_result<arrival> next(moment deadline) noexcept override
    {
        while (true) {
            // In turns, so that neither kind keeps the other waiting.
            turn_of_new_ = !turn_of_new_;
            if (first_ != nullptr && !(turn_of_new_ && accepting_)) {
                return arrival{nullptr, {}, next_told()};
            }
            if (accepting_) {
                io_result<arrival> accepted = accept();
                if (accepted.has_value()) {
                    return accepted;
                }
                accepting_ = false;
                if (accepted.error() == EAGAIN) {
                    if (std::exchange(leaving_, false)) {
                        return arrival{};
                    }
                } else {
                    log_rarely("connections wait, as none can be accepted: %s",
                               describe_error(accepted.error()).c_str());
                    try_again_ = clock::now() + accept_rest;
                }
                continue;
            }
            some_.open = false;
            const int error = some_.wait(std::min(deadline, try_again_));
            if (error == ETIMEDOUT && clock::now() >= try_again_) {
                accepting_ = true;
                try_again_ = never;
            } else if (error != 0) {
                return unexpected(error);
            }
        }
    }

    void came(std::uint32_t) noexcept override
    {
        told_by_listener_ = true;
        look();
    }

    /// The loop comes to rest. If the kernel has told it of a peer whom its source cannot take now, as all flows that
    /// it may have are in progress, the others are to look: they will not be told.
    void pass_on() noexcept
    {
        if (std::exchange(told_by_listener_, false) && accepting_ && !some_.awaited()) {
            look_at_listeners();
        }
    }

    void append(reactor_stream &told) noexcept
    {
        told.next = nullptr;
        (first_ == nullptr ? first_ : last_->next) = &told;
        last_ = &told;
        some_.set();
    }

  private:
    class bell_of_arrivals final : public watched
    {
      public:
        explicit bell_of_arrivals(reactor_arrivals &told) noexcept : told_(told) {}
        void came(std::uint32_t) noexcept override { told_.look(); }

      private:
        reactor_arrivals &told_;
    };

    // There may be somebody; or it is for the last time.
    void look() noexcept
    {
        if (left_) {
            return;
        }
        if (accepting_has_ended()) {
            left_ = true;
            leaving_ = true;
            interest_.remove(listener_->socket());
        }
        accepting_ = true;
        some_.set();
    }

    io_result<arrival> accept() noexcept
    {
        arrival somebody;
        io_result<descriptor> accepted = try_accept(listener_->socket(), somebody.from);
        if (!accepted.has_value()) {
            return unexpected(accepted.error());
        }
        std::unique_ptr<reactor_stream> made(new (std::nothrow) reactor_stream(std::move(*std::move(accepted))));
        if (made == nullptr) {
            return unexpected(ENOMEM);
        }
        if (const io_result<void> joined = made->join(interest_); !joined.has_value()) {
            return unexpected(joined.error());
        }
        somebody.accepted = std::move(made);
        return somebody;
    }

    interest &interest_;
    arrivals_row &all_;
    reactor_listener *listener_ = nullptr;
    descriptor bell_;
    bell_of_arrivals told_by_bell_{*this};
    bool told_by_listener_ = false;
    // The listener is left: nobody is accepted any more but who waits, and that is still to be said.
    bool left_ = false;
    bool leaving_ = false;
    // Set by the edges of the listener and the bell, until nobody is left to be accepted.
    bool accepting_ = false;
    bool turn_of_new_ = false;
    // When to accept again after that has failed.
    moment try_again_ = never;
    // Streams with input, in the order in which it came.
    reactor_stream *first_ = nullptr;
    reactor_stream *last_ = nullptr;
    // Open where there may be something of either.
    direction some_;
};

void reactor_stream::tell(reactor_arrivals &told, void *whom, bool at_once) noexcept
{
    owner = whom;
    // What the mark was set for, a flow may have received since.
    input_.open = input_.open && (at_once || socket_has_input(socket_));
    if (at_once || input_.open) {
        told.append(*this);
    } else {
        told_ = &told;
    }
}

void reactor_stream::came(std::uint32_t events) noexcept
{
    ended_ = ended_ || (events & ends) != 0;
    if ((events & (EPOLLIN | ends)) != 0) {
        input_.set();
        if (reactor_arrivals *const told = tell_nobody()) {
            told->append(*this);
        }
    }
    if ((events & (EPOLLOUT | ends)) != 0) {
        output_.set();
    }
}

class reactor final : public loop_io, public watched
{
  public:
    reactor() : bell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
    {
        if (bell_.get() < 0 || !interest_.add(bell_, EPOLLIN | EPOLLET, *this).has_value()) {
            throw std::system_error(errno, std::generic_category(), "eventfd");
        }
    }

    const char *name() const noexcept override { return "reactor"; }
    moment now() const noexcept override { return clock::now(); }

    io_result<std::unique_ptr<listener>> listen(const address &at) noexcept override
    {
        io_result<public_socket> opened = open_listener(at);
        if (!opened.has_value()) {
            return unexpected(opened.error());
        }
        std::unique_ptr<listener> made(new (std::nothrow) reactor_listener(std::move(*std::move(opened))));
        return given(std::move(made));
    }

    io_result<std::unique_ptr<stream>> connect(const address &to, moment deadline) noexcept override
    {
        io_result<descriptor> opened = open_stream_socket(to);
        if (!opened.has_value()) {
            return unexpected(opened.error());
        }
        std::unique_ptr<reactor_stream> made(new (std::nothrow) reactor_stream(std::move(*std::move(opened))));
        if (made == nullptr) {
            return unexpected(ENOMEM);
        }
        int error = begin_connect(made->socket(), to);
        if (error == 0 || error == EINPROGRESS) {
            const io_result<void> joined = made->join(interest_);
            error = joined.has_value() ? made->finish_connect(deadline) : joined.error();
        }
        if (error != 0) {
            return unexpected(error);
        }
        return std::unique_ptr<stream>(std::move(made));
    }

    io_result<std::unique_ptr<datagram_socket>> bind(const address &at) noexcept override
    {
        io_result<public_socket> opened = open_datagram_socket(at, sharing::of_loops);
        if (!opened.has_value()) {
            return unexpected(opened.error());
        }
        std::unique_ptr<reactor_datagram_socket> made(
            new (std::nothrow) reactor_datagram_socket(std::move(*std::move(opened))));
        if (made == nullptr) {
            return unexpected(ENOMEM);
        }
        if (const io_result<void> joined = made->join(interest_); !joined.has_value()) {
            return unexpected(joined.error());
        }
        return std::unique_ptr<datagram_socket>(std::move(made));
    }

    std::unique_ptr<arrivals> make_arrivals() override
    {
        return std::make_unique<reactor_arrivals>(interest_, arrivals_);
    }

    void wait(moment until) noexcept override
    {
        if (until != moment::min()) {
            std::ranges::for_each(arrivals_, &reactor_arrivals::pass_on);
        }
        interest_.fetch(until);
    }
    void deliver() noexcept override { interest_.deliver(); }
    void interrupt() noexcept override { eventfd_write(bell_.get(), 1); }

    // The bell: each stroke is an edge, so it need not be read.
    void came(std::uint32_t) noexcept override {}

  private:
    template <class Made>
    static io_result<std::unique_ptr<Made>> given(std::unique_ptr<Made> made) noexcept
    {
        if (made == nullptr) {
            return unexpected(ENOMEM);
        }
        return made;
    }

    interest interest_;
    arrivals_row arrivals_;
    const descriptor bell_;
};

} // namespace

std::unique_ptr<loop_io> make_reactor()
{
    return std::make_unique<reactor>();
}

} // namespace flux
