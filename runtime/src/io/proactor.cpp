#include "flux/io/proactor.hpp"

#include "flux/io/accepting.hpp"
#include "flux/io/direction.hpp"
#include "flux/error.hpp"
#include "flux/log.hpp"
#include "flux/io/receive_buffers.hpp"
#include "flux/io/ring.hpp"
#include "flux/io/socket.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <poll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <utility>

namespace flux {
namespace {

/// With so many unread buffers a stream is not received for; it may be a few more when that is noticed.
constexpr std::size_t most_unread = 8;

class proactor_arrivals;

/// What all of a loop's streams share.
struct shared {
    flux::ring ring;
    receive_buffers buffers{ring};
};

/// A connected socket and its input. It is in flight while the kernel receives for it or waits for input, and outlives
/// its stream until that is over.
class intake final : public submission
{
  public:
    intake(shared &through, descriptor socket) noexcept : shared_(through), socket_(std::move(socket)) {}
    ~intake() override { unread_.drop(shared_.buffers); }

    shared &through() const noexcept { return shared_; }
    const descriptor &socket() const noexcept { return socket_; }

    io_result<std::size_t> receive(std::span<std::byte> into, moment deadline) noexcept
    {
        while (true) {
            if (!unread_.empty()) {
                return unread_.read(shared_.buffers, into);
            }
            if (error_ != 0) {
                return unexpected(std::exchange(error_, 0));
            }
            if (ended_) {
                return std::size_t{0};
            }
            if (std::exchange(readable_, false)) {
                const io_result<std::size_t> count = try_receive(socket_, into);
                if (count.has_value() || count.error() != EAGAIN) {
                    return count;
                }
            }
            begin();
            something_.open = false;
            if (const int error = something_.wait(deadline); error != 0) {
                return unexpected(error);
            }
        }
    }

    /// Whether there is something.
    bool look() noexcept
    {
        readable_ = readable_ || (!in_flight() && socket_has_input(socket_));
        return has_something();
    }

    void came(int result, std::uint32_t flags) noexcept override;

    /// Tells these arrivals once, when there is input or at once.
    void tell(proactor_arrivals &told, void *whom, bool at_once) noexcept;

    /// Tells nobody any more: whom it would have told.
    proactor_arrivals *tell_nobody() noexcept { return std::exchange(told_, nullptr); }

    void *owner = nullptr;
    /// Its neighbour in the row of those that are told, or were accepted.
    intake *next = nullptr;

  private:
    // There is input, or will be told of when there is.
    void begin() noexcept
    {
        if (in_flight()) {
            return;
        }
        polls_ = !shared_.buffers.any_free();
        shared_.ring.submit(*this, [this](io_uring_sqe &entry) {
            if (polls_) {
                io_uring_prep_poll_add(&entry, socket_.get(), POLLIN | POLLRDHUP);
            } else {
                io_uring_prep_recv_multishot(&entry, socket_.get(), nullptr, 0, 0);
                io_uring_sqe_set_flags(&entry, IOSQE_BUFFER_SELECT);
                entry.buf_group = receive_buffers::group;
            }
        });
    }

    void received(int result, std::uint32_t flags) noexcept
    {
        if ((flags & IORING_CQE_F_BUFFER) != 0) {
            const auto number = static_cast<std::uint16_t>(flags >> IORING_CQE_BUFFER_SHIFT);
            shared_.buffers.take();
            if (result > 0) {
                unread_.append(shared_.buffers, number, static_cast<std::size_t>(result));
            } else {
                shared_.buffers.give_back(number);
            }
        }
        ended_ = result == 0;
        // Without a buffer, or cancelled, it has come to an end, and its socket has not.
        if (result < 0 && result != -ENOBUFS && result != -ECANCELED && result != -EINTR) {
            error_ = -result;
        }
        if (unread_.count() == most_unread && in_flight()) {
            shared_.ring.cancel(*this);
        }
    }

    bool has_something() const noexcept { return !unread_.empty() || ended_ || error_ != 0 || readable_; }

    shared &shared_;
    const descriptor socket_;
    unread_input unread_;
    // How the input has ended: well, or with an error that is told once.
    bool ended_ = false;
    int error_ = 0;
    // What is in flight is a poll, and not a receive.
    bool polls_ = false;
    // A poll has said that a call will not block.
    bool readable_ = false;
    // Open where there is something to be had.
    direction something_;
    proactor_arrivals *told_ = nullptr;
};

class proactor_stream final : public stream
{
  public:
    explicit proactor_stream(std::unique_ptr<intake> input) noexcept : input_(std::move(input)) {}
    ~proactor_stream() override
    {
        ring &through = input_->through().ring;
        through.abandon(std::move(input_));
    }

    io_result<std::size_t> receive(std::span<std::byte> into, moment deadline) noexcept override
    {
        return input_->receive(into, deadline);
    }

    io_result<void> send(std::span<iovec> parts, moment deadline) noexcept override
    {
        // There is room nearly always. Then a call costs less than an operation, which the flow has to park for, and
        // the peer has its answer before the other flows of this turn have made theirs.
        const io_result<std::span<iovec>> left = try_send(input_->socket(), parts);
        if (!left.has_value() && left.error() != EAGAIN) {
            return unexpected(left.error());
        }
        parts = left.has_value() ? *left : drop_first(parts, 0);
        while (!parts.empty()) {
            msghdr message{};
            message.msg_iov = parts.data();
            message.msg_iovlen = parts.size();
            operation sending;
            const int sent = sending.run(input_->through().ring, deadline, [&](io_uring_sqe &entry) {
                io_uring_prep_sendmsg(&entry, input_->socket().get(), &message, MSG_NOSIGNAL | MSG_WAITALL);
            });
            parts = drop_first(parts, static_cast<std::size_t>(std::max(sent, 0)));
            const int error = sending.error() != 0 ? sending.error() : -std::min(sent, 0);
            if (!parts.empty() && error != 0) {
                return unexpected(error);
            }
        }
        return {};
    }

    void end_output() noexcept override { shutdown(input_->socket().get(), SHUT_WR); }
    bool has_input() noexcept override { return input_->look(); }

    intake &input() noexcept { return *input_; }

  private:
    std::unique_ptr<intake> input_;
};

class proactor_listener final : public listener
{
  public:
    explicit proactor_listener(public_socket socket) noexcept : socket_(std::move(socket)) {}

    address local() const noexcept override { return local_address(socket_); }
    const descriptor &socket() const noexcept { return socket_; }

  private:
    const public_socket socket_;
};

class proactor_datagram_socket final : public datagram_socket
{
  public:
    proactor_datagram_socket(ring &through, public_socket socket) noexcept
        : ring_(through), socket_(std::move(socket))
    {
    }

    io_result<datagram> receive(std::span<std::byte> into, moment deadline) noexcept override
    {
        return insist(POLLIN, deadline, [&] { return try_receive_from(socket_, into); });
    }

    io_result<void> send(std::span<const std::byte> message, const address &to, moment deadline) noexcept override
    {
        return insist(POLLOUT, deadline, [&] { return try_send_to(socket_, message, to); });
    }

    address local() const noexcept override { return local_address(socket_); }

  private:
    // Calls `attempt` until it gives something else than EAGAIN, waiting in between. A message that is sent goes at
    // once nearly always, and those that come often come together, so a try saves more than it costs.
    template <class Attempt>
    auto insist(unsigned events, moment deadline, Attempt attempt) noexcept -> decltype(attempt())
    {
        while (true) {
            auto result = attempt();
            if (result.has_value() || result.error() != EAGAIN) {
                return result;
            }
            operation waiting;
            const int ready = waiting.run(ring_, deadline, [&](io_uring_sqe &entry) {
                io_uring_prep_poll_add(&entry, socket_.get(), events);
            });
            if (ready < 0) {
                return unexpected(waiting.error() != 0 ? waiting.error() : -ready);
            }
        }
    }

    ring &ring_;
    const public_socket socket_;
};

/// A row of those that wait for the source, linked through themselves.
class intake_row
{
  public:
    bool empty() const noexcept { return first_ == nullptr; }

    void push(intake &last) noexcept
    {
        last.next = nullptr;
        (empty() ? first_ : last_->next) = &last;
        last_ = &last;
    }

    intake &pop() noexcept { return *std::exchange(first_, first_->next); }

  private:
    intake *first_ = nullptr;
    intake *last_ = nullptr;
};

/// New peers of a listener. While nobody waits there an operation accepts the next; it is followed by calls until
/// nobody is left. Each is accepted when the source asks, so that those whom this loop cannot serve at once wait in the
/// kernel, where other loops may have them. It is in flight while the kernel accepts, and outlives its arrivals until
/// that is over.
class acceptor final : public submission
{
  public:
    acceptor(ring &through, const descriptor &from, direction &told) noexcept
        : ring_(through), from_(from), told_(&told)
    {
    }

    /// Accepts, unless it does, or rests, or has left.
    void begin() noexcept
    {
        if (in_flight() || some_ || leaving_ || try_again_ != never) {
            return;
        }
        ring_.submit(*this, [this](io_uring_sqe &entry) {
            peer_.size = sizeof peer_.storage;
            io_uring_prep_accept(&entry, from_.get(), peer_.get(), &peer_.size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        });
    }

    /// Whether there may be somebody.
    bool some() const noexcept { return some_; }

    /// Somebody, or EAGAIN; after any other error it rests.
    io_result<descriptor> next(address &peer) noexcept
    {
        if (accepted_.get() >= 0) {
            peer = peer_;
            return std::exchange(accepted_, descriptor());
        }
        io_result<descriptor> accepted = try_accept(from_, peer);
        some_ = accepted.has_value();
        if (!some_ && accepted.error() != EAGAIN) {
            rest(accepted.error());
        }
        return accepted;
    }

    /// Nobody is accepted any more but who waits now.
    void leave() noexcept
    {
        if (std::exchange(leaving_, true)) {
            return;
        }
        if (in_flight()) {
            ring_.cancel(*this);
        } else {
            look();
        }
    }

    /// Whether that is done: once.
    bool has_left() noexcept
    {
        const bool is_done = leaving_ && !in_flight() && !some_ && try_again_ == never;
        return is_done && !std::exchange(left_, true);
    }

    /// When to accept again after that has failed.
    moment try_again() const noexcept { return try_again_; }

    void stop_resting() noexcept
    {
        try_again_ = never;
        some_ = true;
    }

    void tell_nobody() noexcept { told_ = nullptr; }

    void came(int result, std::uint32_t) noexcept override
    {
        if (result >= 0) {
            accepted_ = descriptor(result);
        } else if (result != -ECANCELED && result != -ECONNABORTED && result != -EINTR) {
            rest(-result);
            return;
        }
        // Whoever has gone before being accepted is nobody's error.
        look();
    }

    void rest(int error) noexcept
    {
        some_ = false;
        log_rarely("connections wait, as none can be accepted: %s", describe_error(error).c_str());
        try_again_ = clock::now() + arrivals::accept_rest;
        wake();
    }

    /// There may be somebody.
    void look() noexcept
    {
        some_ = true;
        wake();
    }

  private:
    void wake() noexcept
    {
        if (told_ != nullptr) {
            told_->set();
        }
    }

    ring &ring_;
    const descriptor &from_;
    direction *told_;
    // Who has been accepted by the operation.
    descriptor accepted_;
    address peer_;
    bool some_ = false;
    bool leaving_ = false;
    bool left_ = false;
    moment try_again_ = never;
};

/// Waits for the bell of those who accept, for as long as it is there.
class bell_of_acceptor final : public submission
{
  public:
    explicit bell_of_acceptor(acceptor &told) noexcept : told_(&told) {}

    void begin(ring &through) noexcept
    {
        through.submit(*this,
                       [this](io_uring_sqe &entry) { io_uring_prep_poll_multishot(&entry, bell_.get(), POLLIN); });
    }

    void tell_nobody() noexcept { told_ = nullptr; }

    void came(int result, std::uint32_t) noexcept override
    {
        if (told_ == nullptr || result < 0) {
            return;
        }
        if (accepting_has_ended()) {
            told_->leave();
        } else {
            told_->look();
        }
    }

  private:
    const descriptor bell_ = bell_of_listeners();
    acceptor *told_;
};

class proactor_arrivals final : public arrivals
{
  public:
    explicit proactor_arrivals(shared &through) noexcept : shared_(through) {}

    ~proactor_arrivals() override
    {
        if (acceptor_ != nullptr) {
            bell_->tell_nobody();
            shared_.ring.abandon(std::move(bell_));
            acceptor_->tell_nobody();
            shared_.ring.abandon(std::move(acceptor_));
            // The listener may be closed now, and its number be another's.
            shared_.ring.flush();
        }
    }

    io_result<void> watch(listener &from) noexcept override
    {
        const descriptor &socket = static_cast<proactor_listener &>(from).socket();
        std::unique_ptr<acceptor> made(new (std::nothrow) acceptor(shared_.ring, socket, some_));
        bell_.reset(made == nullptr ? nullptr : new (std::nothrow) bell_of_acceptor(*made));
        if (bell_ == nullptr) {
            return unexpected(ENOMEM);
        }
        acceptor_ = std::move(made);
        acceptor_->begin();
        bell_->begin(shared_.ring);
        return {};
    }

    io_result<void> watch(stream &idle, void *owner, bool soon) noexcept override
    {
        static_cast<proactor_stream &>(idle).input().tell(*this, owner, soon);
        return {};
    }

    bool forget(stream &watched) noexcept override
    {
        return static_cast<proactor_stream &>(watched).input().tell_nobody() != nullptr;
    }

    void *next_told() noexcept override { return told_.empty() ? nullptr : told_.pop().owner; }

    io_result<arrival> next(moment deadline) noexcept override
    {
        while (true) {
            // In turns, so that neither kind keeps the other waiting.
            turn_of_new_ = !turn_of_new_;
            const bool some_new = acceptor_ != nullptr && acceptor_->some();
            if (!told_.empty() && !(turn_of_new_ && some_new)) {
                return arrival{nullptr, {}, next_told()};
            }
            if (some_new) {
                if (io_result<arrival> accepted = accept(); accepted.has_value()) {
                    return accepted;
                }
                continue;
            }
            if (acceptor_ != nullptr && acceptor_->has_left()) {
                return arrival{};
            }
            some_.open = false;
            if (const int error = wait(deadline); error != 0) {
                return unexpected(error);
            }
        }
    }

    void append(intake &told) noexcept
    {
        told_.push(told);
        some_.set();
    }

  private:
    io_result<arrival> accept() noexcept
    {
        arrival somebody;
        io_result<descriptor> accepted = acceptor_->next(somebody.from);
        if (!accepted.has_value()) {
            return unexpected(accepted.error());
        }
        std::unique_ptr<intake> input(new (std::nothrow) intake(shared_, *std::move(accepted)));
        somebody.accepted.reset(input == nullptr ? nullptr : new (std::nothrow) proactor_stream(std::move(input)));
        if (somebody.accepted == nullptr) {
            acceptor_->rest(ENOMEM);
            return unexpected(ENOMEM);
        }
        return somebody;
    }

    // Until there is somebody, or nobody has been accepted for long enough.
    int wait(moment deadline) noexcept
    {
        if (acceptor_ == nullptr) {
            return some_.wait(deadline);
        }
        acceptor_->begin();
        const moment try_again = acceptor_->try_again();
        const int error = some_.wait(std::min(deadline, try_again));
        if (error == ETIMEDOUT && clock::now() >= try_again) {
            acceptor_->stop_resting();
            return 0;
        }
        return error;
    }

    shared &shared_;
    std::unique_ptr<acceptor> acceptor_;
    std::unique_ptr<bell_of_acceptor> bell_;
    bool turn_of_new_ = false;
    // Streams with input, in the order in which it came.
    intake_row told_;
    // Open where there may be something of either.
    direction some_;
};

void intake::tell(proactor_arrivals &told, void *whom, bool at_once) noexcept
{
    owner = whom;
    if (at_once || has_something()) {
        told.append(*this);
    } else {
        told_ = &told;
        begin();
    }
}

void intake::came(int result, std::uint32_t flags) noexcept
{
    if (polls_) {
        readable_ = true;
    } else {
        received(result, flags);
    }
    something_.set();
    if (told_ == nullptr) {
        return;
    }
    if (has_something()) {
        tell_nobody()->append(*this);
    } else {
        begin();
    }
}

/// Ends the waits of its loop. Each stroke is told, so the counter is never read.
class bell final : public submission
{
  public:
    bell() : counter_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
    {
        if (counter_.get() < 0) {
            throw std::system_error(errno, std::generic_category(), "eventfd");
        }
    }

    void listen(ring &on) noexcept
    {
        if (!in_flight()) {
            on.submit(*this, [this](io_uring_sqe &entry) {
                io_uring_prep_poll_multishot(&entry, counter_.get(), POLLIN);
            });
        }
    }

    void strike() noexcept { eventfd_write(counter_.get(), 1); }

    void came(int, std::uint32_t) noexcept override {}

  private:
    const descriptor counter_;
};

class proactor final : public loop_io
{
  public:
    ~proactor() override { shared_.ring.close(); }

    const char *name() const noexcept override { return "proactor"; }
    moment now() const noexcept override { return clock::now(); }

    io_result<std::unique_ptr<listener>> listen(const address &at) noexcept override
    {
        io_result<public_socket> opened = open_listener(at);
        if (!opened.has_value()) {
            return unexpected(opened.error());
        }
        std::unique_ptr<listener> made(new (std::nothrow) proactor_listener(std::move(*std::move(opened))));
        if (made == nullptr) {
            return unexpected(ENOMEM);
        }
        return made;
    }

    io_result<std::unique_ptr<stream>> connect(const address &to, moment deadline) noexcept override
    {
        io_result<descriptor> opened = open_stream_socket(to);
        if (!opened.has_value()) {
            return unexpected(opened.error());
        }
        descriptor socket = *std::move(opened);
        operation connecting;
        const int connected = connecting.run(shared_.ring, deadline, [&](io_uring_sqe &entry) {
            io_uring_prep_connect(&entry, socket.get(), to.get(), to.size);
        });
        if (connected < 0) {
            return unexpected(connecting.error() != 0 ? connecting.error() : -connected);
        }
        std::unique_ptr<intake> input(new (std::nothrow) intake(shared_, std::move(socket)));
        if (input == nullptr) {
            return unexpected(ENOMEM);
        }
        std::unique_ptr<stream> made(new (std::nothrow) proactor_stream(std::move(input)));
        if (made == nullptr) {
            return unexpected(ENOMEM);
        }
        return made;
    }

    io_result<std::unique_ptr<datagram_socket>> bind(const address &at) noexcept override
    {
        io_result<public_socket> opened = open_datagram_socket(at, sharing::of_loops);
        if (!opened.has_value()) {
            return unexpected(opened.error());
        }
        std::unique_ptr<datagram_socket> made(
            new (std::nothrow) proactor_datagram_socket(shared_.ring, std::move(*std::move(opened))));
        if (made == nullptr) {
            return unexpected(ENOMEM);
        }
        return made;
    }

    std::unique_ptr<arrivals> make_arrivals() override { return std::make_unique<proactor_arrivals>(shared_); }

    void wait(moment until) noexcept override
    {
        bell_.listen(shared_.ring);
        shared_.ring.wait(until);
    }

    void deliver() noexcept override { shared_.ring.deliver(); }
    void interrupt() noexcept override { bell_.strike(); }

  private:
    // What is in flight ends before what it uses.
    bell bell_;
    shared shared_;
};

} // namespace

std::unique_ptr<loop_io> make_proactor()
{
    return std::make_unique<proactor>();
}

} // namespace flux
