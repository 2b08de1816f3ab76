#include "flux/simulation/simulation.hpp"

#include "flux/flow/flow.hpp"
#include "flux/io/loop_arrivals.hpp"
#include "flux/io/park.hpp"
#include "flux/io/socket.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

namespace flux {
namespace {

/// What takes longer than this, without anything on its way, nobody waits for.
constexpr std::chrono::hours longest_silence{1};

/// The network of the simulation that the thread is the loop of.
constinit thread_local simulated_network *network_of_thread = nullptr;

/// A flow that waits at a place.
class parked_flow final : public simulated_waiting
{
  public:
    explicit parked_flow(park_reason reason) noexcept : park_(*running_flow, reason) {}

    /// Waits until it is to go on: 0, or the error that the wait ended with.
    int wait_at(simulated_place &place, moment deadline) noexcept
    {
        place.wait(*this);
        const park_end end = park_.wait(deadline);
        place.leave();
        return error_of(end);
    }

    void go_on() noexcept override { park_.end(park_end::completed); }

  private:
    park park_;
};

class simulated_stream final : public stream, public simulated_waiting, public ready_entry
{
  public:
    simulated_stream(simulated_network &of, simulated_socket socket, std::size_t &open) noexcept
        : network_(of), socket_(std::move(socket)), open_(open)
    {
        ++open_;
    }

    ~simulated_stream() override
    {
        const simulated_work closing(network_);
        --open_;
        socket_ = {};
    }

    io_result<std::size_t> do_receive(std::span<std::byte> into, moment deadline) noexcept override
    {
        const auto ready = [this] { return socket_.readable(); };
        if (const int error = wait(socket_.reader(), park_reason::read, ready, deadline); error != 0) {
            return unexpected(error);
        }
        const simulated_work receiving(network_);
        const std::size_t count = socket_.take(into);
        const int error = count == 0 ? socket_.error() : 0;
        if (error == ECONNRESET) {
            return unexpected(error);
        }
        return count;
    }

    io_result<void> do_send(std::span<iovec> parts, moment deadline) noexcept override
    {
        parts = drop_first(parts, 0);
        while (!parts.empty()) {
            const auto ready = [this] { return socket_.writable(); };
            if (const int error = wait(socket_.writer(), park_reason::write, ready, deadline); error != 0) {
                return unexpected(error);
            }
            if (const int error = socket_.error(); error != 0) {
                return unexpected(error);
            }
            parts = drop_first(parts, put(parts[0]));
            if (const int error = parts.empty() ? 0 : refill_io_budget(deadline); error != 0) {
                return unexpected(error);
            }
        }
        return {};
    }

    std::size_t send_at_once(std::string_view bytes) noexcept override
    {
        if (socket_.error() != 0) {
            return bytes.size();
        }
        return socket_.writable() ? put({const_cast<char *>(bytes.data()), bytes.size()}) : 0;
    }

    void cut() noexcept override
    {
        const simulated_work cutting(network_);
        socket_.reset();
    }

    void end_output() noexcept override
    {
        const simulated_work ending(network_);
        socket_.end();
    }

    bool has_input() noexcept override { return socket_.readable(); }

    /// Goes into this queue once, when there is input or soon.
    void queue_in(ready_queue &to, void *whom, bool soon) noexcept;

    /// Goes into no queue any more: whether it would have.
    bool leave_queue() noexcept
    {
        socket_.reader().leave();
        return std::exchange(queue_, nullptr) != nullptr;
    }

    void go_on() noexcept override;

  private:
    std::size_t put(const iovec &part)
    {
        const simulated_work sending(network_);
        return socket_.put({static_cast<const char *>(part.iov_base), part.iov_len});
    }

    // Waits until `ready` gives true; sometimes a little longer, and sometimes in vain.
    template <class Ready>
    int wait(simulated_place &place, park_reason reason, Ready ready, moment deadline) noexcept
    {
        if (network_.time.chance(network_.faults.out_of_memory)) {
            return network_.time.chance(500) ? ENOBUFS : ENOMEM;
        }
        bool at_once = network_.time.chance(500);
        while (!ready() || !at_once) {
            if (ready() || network_.time.chance(network_.faults.false_wakes)) {
                const simulated_work telling(network_);
                socket_.tell_soon(place);
            }
            parked_flow waits(reason);
            if (const int error = waits.wait_at(place, deadline); error != 0) {
                return error;
            }
            at_once = true;
        }
        return 0;
    }

    simulated_network &network_;
    simulated_socket socket_;
    std::size_t &open_;
    ready_queue *queue_ = nullptr;
    bool soon_ = false;
};

class simulated_listener final : public listener, private simulated_waiting
{
  public:
    simulated_listener(simulated_network &of, const address &at) : port(of, at), time_(of.time)
    {
        port.acceptor.wait(*this);
    }

    /// The world has one loop, and nobody but its own sources is to look there.
    const std::shared_ptr<accept_group> group = std::make_shared<accept_group>(nullptr);

    address local() const noexcept override { return port.local(); }

    /// Of those who watch, the sources of several loops as it were, one is notified of each new peer.
    void watch(loop_arrivals &by)
    {
        watching_.push_back(&by);
        if (!port.arrived.empty()) {
            by.notified();
        }
    }
    void watch_no_more(loop_arrivals &by) noexcept { std::erase(watching_, &by); }

    simulated_port port;

  private:
    void go_on() noexcept override
    {
        port.acceptor.wait(*this);
        if (!watching_.empty()) {
            watching_[watching_.size() == 1 ? 0 : time_.draw(watching_.size())]->notified();
        }
    }

    simulated_time &time_;
    std::vector<loop_arrivals *> watching_;
};

class simulated_arrivals final : public loop_arrivals
{
  public:
    simulated_arrivals(simulated_network &of, arrivals_row &row, std::size_t &open)
        : loop_arrivals(row), network_(of), open_(open)
    {
    }

    ~simulated_arrivals() override { stop_watching(); }

    io_result<void> watch(listener &from) noexcept override
    {
        auto &chosen = static_cast<simulated_listener &>(from);
        if (const io_result<void> joined = join(chosen.group); !joined.has_value()) {
            return joined;
        }
        const simulated_work watching(network_);
        chosen.watch(*this);
        listener_ = &chosen;
        watches_ = true;
        return {};
    }

    io_result<void> watch(stream &idle, void *owner, bool soon) noexcept override
    {
        static_cast<simulated_stream &>(idle).queue_in(ready(), owner, soon);
        return {};
    }

    bool forget(stream &idle) noexcept override { return static_cast<simulated_stream &>(idle).leave_queue(); }

  private:
    // Without descriptors and without memory whoever is first waits on.
    int accept(newcomer &into) noexcept override
    {
        auto &arrived = listener_->port.arrived;
        if (arrived.empty()) {
            return EAGAIN;
        }
        if (network_.time.chance(network_.faults.out_of_descriptors)) {
            return EMFILE;
        }
        into.accepted.reset(new (std::nothrow) simulated_stream(network_, std::move(arrived.front().first), open_));
        if (into.accepted == nullptr) {
            return ENOMEM;
        }
        into.from = arrived.front().second;
        arrived.pop_front();
        return 0;
    }

    void stop_watching() noexcept override
    {
        if (std::exchange(watches_, false)) {
            listener_->watch_no_more(*this);
        }
    }

    simulated_network &network_;
    std::size_t &open_;
    simulated_listener *listener_ = nullptr;
    bool watches_ = false;
};

void simulated_stream::queue_in(ready_queue &to, void *whom, bool soon) noexcept
{
    const simulated_work notifying(network_);
    owner = whom;
    const bool ready = soon || socket_.readable();
    if (ready && network_.time.chance(500)) {
        to.push(*this);
        return;
    }
    queue_ = &to;
    soon_ = soon;
    socket_.reader().wait(*this);
    if (ready) {
        socket_.tell_soon(socket_.reader());
    }
}

void simulated_stream::go_on() noexcept
{
    // Of what a flow has had by itself it is notified too late. As a flow can, a source may be woken for nothing.
    if (!soon_ && !socket_.readable() && !network_.time.chance(network_.faults.false_wakes)) {
        return socket_.reader().wait(*this);
    }
    std::exchange(queue_, nullptr)->push(*this);
}

class simulated_datagram_socket final : public datagram_socket
{
  public:
    simulated_datagram_socket(simulated_network &of, const address &at) : network_(of), mailbox_(of, at) {}

    io_result<datagram> do_receive(std::span<std::byte> into, moment deadline) noexcept override
    {
        while (mailbox_.arrived.empty()) {
            parked_flow waits(park_reason::read);
            if (const int error = waits.wait_at(mailbox_.reader, deadline); error != 0) {
                return unexpected(error);
            }
        }
        const auto [message, from] = std::move(mailbox_.arrived.front());
        mailbox_.arrived.pop_front();
        const std::size_t count = std::min(into.size(), message.size());
        std::memcpy(into.data(), message.data(), count);
        return datagram{count, from};
    }

    io_result<void> do_send(std::span<const std::byte> message, const address &to, moment) noexcept override
    {
        if (network_.time.chance(network_.faults.out_of_memory)) {
            return unexpected(ENOBUFS);
        }
        const simulated_work sending(network_);
        network_.post(mailbox_.local(), to, {reinterpret_cast<const char *>(message.data()), message.size()});
        return {};
    }

    address local() const noexcept override { return mailbox_.local(); }

  private:
    simulated_network &network_;
    simulated_mailbox mailbox_;
};

/// What comes of an attempt to connect. Who has given it up lets the connection go as soon as it is there.
struct attempt {
    explicit attempt(simulated_network &of) noexcept : network(of) {}
    ~attempt()
    {
        const simulated_work closing(network);
        connected = {};
    }
    attempt(const attempt &) = delete;
    attempt &operator=(const attempt &) = delete;

    simulated_network &network;
    bool answered = false;
    int error = 0;
    simulated_socket connected;
    simulated_place place;
};

std::shared_ptr<attempt> try_to_connect(simulated_network &through, const address &to)
{
    const simulated_work connecting(through);
    const auto made = std::make_shared<attempt>(through);
    through.connect(to, [made](int error, simulated_socket connected) {
        made->answered = true;
        made->error = error;
        made->connected = std::move(connected);
        made->place.tell();
    });
    return made;
}

} // namespace

simulation::simulation(std::uint64_t seed, const simulated_faults &faults, std::chrono::nanoseconds begin_peers)
    : time_(seed), network_(time_, faults), begin_peers_(begin_peers)
{
}

simulation::~simulation()
{
    time_.forget();
    if (network_of_thread == &network_) {
        network_of_thread = nullptr;
    }
    for (const auto &each : peers_) {
        stacks_.give_back(each->on());
    }
}

void simulation::add(std::string name, simulated_peer::script does)
{
    const std::optional<stack> on = stacks_.take();
    if (!on) {
        throw std::bad_alloc();
    }
    peers_.push_back(std::make_unique<simulated_peer>(network_, std::move(name), std::move(does), *on, begin_peers_));
}

std::string simulation::unfinished_peers() const
{
    std::string all;
    for (const auto &each : peers_) {
        if (!each->ended() && !each->serves()) {
            all += each->name() + " waits for " + std::string(each->waits_for()) + '\n';
        }
    }
    return all;
}

std::string simulation::failed_expectations() const
{
    std::string all;
    for (const auto &each : peers_) {
        all += each->failed_expectations();
    }
    return all;
}

void simulation::begin(std::chrono::nanoseconds silence)
{
    const std::lock_guard alone(lock_);
    silence_ = silence;
    begun_ = true;
    changed_.notify_all();
}

void simulation::await_idle()
{
    std::unique_lock alone(lock_);
    changed_.wait(alone, [this] { return idle_ && !interrupted_; });
}

void simulation::go_on()
{
    {
        const std::lock_guard alone(lock_);
        silent_since_.reset();
        interrupted_ = true;
        changed_.notify_all();
    }
    await_idle();
}

bool simulation::allocation_fails() noexcept
{
    return network_of_thread != nullptr && network_of_thread->allocation_fails();
}

io_result<std::unique_ptr<listener>> simulation::listen(const address &at) noexcept
{
    const simulated_work listening(network_);
    const io_result<address> own = network_.free_for_port(at);
    if (!own.has_value()) {
        return unexpected(own.error());
    }
    return std::unique_ptr<listener>(std::make_unique<simulated_listener>(network_, *own));
}

io_result<std::unique_ptr<stream>> simulation::connect(const address &to, moment deadline) noexcept
{
    if (time_.chance(network_.faults.out_of_descriptors)) {
        return unexpected(EMFILE);
    }
    const std::shared_ptr<attempt> made = try_to_connect(network_, to);
    while (!made->answered) {
        parked_flow waits(park_reason::connect);
        if (const int error = waits.wait_at(made->place, deadline); error != 0) {
            return unexpected(error);
        }
    }
    if (made->error != 0) {
        return unexpected(made->error);
    }
    auto *const connected = new (std::nothrow) simulated_stream(network_, std::move(made->connected), open_streams_);
    if (connected == nullptr) {
        return unexpected(ENOMEM);
    }
    return std::unique_ptr<stream>(connected);
}

io_result<std::unique_ptr<datagram_socket>> simulation::bind(const address &at) noexcept
{
    const simulated_work binding(network_);
    const io_result<address> own = network_.free_for_mailbox(at);
    if (!own.has_value()) {
        return unexpected(own.error());
    }
    return std::unique_ptr<datagram_socket>(std::make_unique<simulated_datagram_socket>(network_, *own));
}

std::unique_ptr<arrivals> simulation::make_arrivals()
{
    return std::make_unique<simulated_arrivals>(network_, arrivals_, open_streams_);
}

void simulation::wait(moment until) noexcept
{
    network_of_thread = &network_;
    if (until != moment::min()) {
        arrivals_.go_idle();
    }
    const simulated_work going_on(network_);
    std::unique_lock alone(lock_);
    changed_.wait(alone, [this] { return begun_; });
    if (!is_over() && time_.advance(until)) {
        return;
    }
    idle_ = true;
    changed_.notify_all();
    changed_.wait(alone, [this] { return interrupted_; });
    interrupted_ = false;
    idle_ = false;
}

// Whether what may happen yet is not waited for, as there was silence for long enough.
bool simulation::is_over()
{
    if (silence_ == std::chrono::nanoseconds::max()) {
        return false;
    }
    if (time_.pending()) {
        silent_since_.reset();
        return false;
    }
    silent_since_ = silent_since_.value_or(time_.now());
    const auto hangs = [](const auto &each) { return !each->ended() && !each->serves(); };
    const std::chrono::nanoseconds enough = std::ranges::any_of(peers_, hangs) ? longest_silence : silence_;
    return time_.now() - *silent_since_ >= enough;
}

void simulation::deliver() noexcept
{
    const simulated_work happening(network_);
    time_.happen();
    arrivals_.collect_rings();
}

std::uint64_t simulation::cycles() noexcept
{
    if (time_.chance(250)) {
        cycles_ += longer_than_any_slice;
    }
    return cycles_;
}

void simulation::interrupt() noexcept
{
    const std::lock_guard alone(lock_);
    interrupted_ = true;
    changed_.notify_all();
}

} // namespace flux
