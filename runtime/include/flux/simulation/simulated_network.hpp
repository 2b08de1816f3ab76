/// \file
/// A simulated network: connections and messages between parties that are all in one process, with nothing between them
/// but simulated time.
///
/// What is sent is on its way until an event brings it, in one piece or in several, and there is room for a window of
/// bytes that have not been received. A connection ends as TCP's do: in good order, when each side has ended its
/// output; with a reset, when a side goes away that has not received everything, or when the network breaks it. All
/// hosts are one: an address is its port, or its path.
///
/// How well the network works is its `simulated_faults`. A run has some kinds of fault often and others not at all, as
/// each kind hides others (swarm testing: Groce et al., ISSTA 2012).
#pragma once

#include "flux/address.hpp"
#include "flux/io.hpp"
#include "flux/simulation/simulated_time.hpp"

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace flux {

/// What goes wrong, and how often: of a thousand times that it could.
struct simulated_faults {
    /// Less is received or sent than could be.
    unsigned short_transfers = 0;
    /// A flow goes on though nothing has come for it.
    unsigned false_wakes = 0;
    /// A connection breaks when something arrives.
    unsigned resets = 0;
    /// The first connection at which so many things have happened on the network breaks just then; 0 for none.
    std::uint64_t reset_at_step = 0;
    /// A call fails, with ENOBUFS or ENOMEM.
    unsigned out_of_memory = 0;
    /// Nobody can be accepted, or connected to.
    unsigned out_of_descriptors = 0;
    /// A message is lost, or comes twice.
    unsigned lost_messages = 0;
    unsigned doubled_messages = 0;
    /// A connection has room for a few bytes only.
    unsigned small_windows = 0;
    /// A peer takes its time before it sends or receives, and receives little then.
    unsigned slow_peers = 0;
    /// An allocation fails that a flow or the loop asks for. Where `simulation::allocation_fails` is asked.
    unsigned failed_allocations = 0;
    /// The one of them that fails, by its number from 1; 0 for none.
    std::uint64_t allocation_that_fails = 0;
    /// What is sent arrives after so long at most.
    std::chrono::microseconds longest_delay{2'000};

    /// `simulated_faults()` are none.
    bool operator==(const simulated_faults &) const = default;
};

/// The mixture of this seed; every eighth has no faults at all.
simulated_faults faults_of(std::uint64_t seed) noexcept;

/// Whoever waits for something on the network: notified once when it may have come.
class simulated_waiting
{
  public:
    virtual void go_on() noexcept = 0;

  protected:
    ~simulated_waiting() = default;
};

/// Where one waits for one thing.
class simulated_place
{
  public:
    void wait(simulated_waiting &who) noexcept { who_ = &who; }
    void leave() noexcept { who_ = nullptr; }
    bool taken() const noexcept { return who_ != nullptr; }
    /// Tells the one who waits, if there is one.
    void tell() noexcept
    {
        if (simulated_waiting *const waiting = std::exchange(who_, nullptr)) {
            waiting->go_on();
        }
    }

  private:
    simulated_waiting *who_ = nullptr;
};

class simulated_network;

/// Two sides, and what is between them. Calls say for which side they are: 0 has connected, 1 was connected to.
class simulated_connection : public std::enable_shared_from_this<simulated_connection>
{
  public:
    simulated_connection(simulated_network &of, std::uint64_t number) noexcept;

    /// Whether there is something to receive, the end or an error included; and room to send into, or an error.
    bool readable(int side) const noexcept;
    bool writable(int side) const noexcept;
    /// Whether all has arrived that will.
    bool has_ended(int side) const noexcept { return sides_[static_cast<std::size_t>(side)].ended || broken_; }

    /// Receives some of what has arrived, which may be nothing: at the end.
    std::size_t take(int side, std::span<std::byte> into);
    /// Sends as much as there is room for, or less: how much.
    std::size_t put(int side, std::string_view bytes);
    /// Sends nothing more.
    void end(int side);
    /// The side goes away.
    void close(int side);
    /// The connection ends at once.
    void reset();

    /// 0; ECONNRESET where it is broken, or EPIPE where the side has been given that already.
    int error(int side) noexcept;

    /// Tells the one who will wait there a little later, whether anything has come or not.
    void tell_soon(simulated_place &place);

    /// Where a side waits until it is readable, or writable.
    simulated_place &reader(int side) noexcept { return to(side).reader; }
    simulated_place &writer(int side) noexcept { return to(side).writer; }

  private:
    struct one_side {
        // Towards this side.
        std::string on_its_way;
        std::string arrived;
        std::size_t window = 0;
        bool moves = false;
        bool end_on_its_way = false;
        bool ended = false;
        // Of this side.
        bool closed = false;
        bool told_error = false;
        simulated_place reader;
        simulated_place writer;
    };

    one_side &to(int side) noexcept { return sides_[static_cast<std::size_t>(side)]; }
    void move(int side);
    void arrive(int side);

    simulated_network &network_;
    const std::uint64_t number_;
    bool broken_ = false;
    std::array<one_side, 2> sides_;
};

/// One side of a connection, which goes away with this.
class simulated_socket
{
  public:
    simulated_socket() noexcept = default;
    simulated_socket(std::shared_ptr<simulated_connection> of, int side) noexcept : of_(std::move(of)), side_(side) {}
    simulated_socket(simulated_socket &&) noexcept = default;
    simulated_socket &operator=(simulated_socket &&other) noexcept
    {
        std::swap(of_, other.of_);
        std::swap(side_, other.side_);
        return *this;
    }
    ~simulated_socket()
    {
        if (of_ != nullptr) {
            of_->close(side_);
        }
    }

    /// Whether it is one.
    bool open() const noexcept { return of_ != nullptr; }

    bool readable() const noexcept { return of_->readable(side_); }
    bool writable() const noexcept { return of_->writable(side_); }
    bool has_ended() const noexcept { return of_->has_ended(side_); }
    std::size_t take(std::span<std::byte> into) { return of_->take(side_, into); }
    std::size_t put(std::string_view bytes) { return of_->put(side_, bytes); }
    void end() { of_->end(side_); }
    void reset() { of_->reset(); }
    int error() noexcept { return of_->error(side_); }
    void tell_soon(simulated_place &place) { of_->tell_soon(place); }
    simulated_place &reader() noexcept { return of_->reader(side_); }
    simulated_place &writer() noexcept { return of_->writer(side_); }

  private:
    std::shared_ptr<simulated_connection> of_;
    int side_ = 0;
};

/// Who is connected to at an address, and waits to be accepted.
class simulated_port
{
  public:
    /// The address is `free_for_port`.
    simulated_port(simulated_network &of, const address &at);
    /// Those who wait are sent away.
    ~simulated_port();
    simulated_port(const simulated_port &) = delete;
    simulated_port &operator=(const simulated_port &) = delete;

    const address &local() const noexcept { return local_; }

    std::deque<std::pair<simulated_socket, address>> arrived;
    simulated_place acceptor;

  private:
    friend class simulated_network;

    // Null where that is gone.
    simulated_network *network_;
    address local_;
};

/// Messages to an address.
class simulated_mailbox
{
  public:
    /// The address is `free_for_mailbox`.
    simulated_mailbox(simulated_network &of, const address &at);
    ~simulated_mailbox();
    simulated_mailbox(const simulated_mailbox &) = delete;
    simulated_mailbox &operator=(const simulated_mailbox &) = delete;

    const address &local() const noexcept { return local_; }

    std::deque<std::pair<std::string, address>> arrived;
    simulated_place reader;

  private:
    friend class simulated_network;

    // Null where that is gone.
    simulated_network *network_;
    address local_;
};

/// All of it.
class simulated_network
{
  public:
    /// In this time, and with these faults. Belongs to the time's thread.
    simulated_network(simulated_time &goes_by, const simulated_faults &happen) noexcept
        : time(goes_by), faults(happen)
    {
    }
    /// Listeners and mailboxes may stay, for nobody to reach them any more.
    ~simulated_network();
    simulated_network(const simulated_network &) = delete;
    simulated_network &operator=(const simulated_network &) = delete;

    /// What comes of an attempt to connect: 0 and a socket, or an error.
    using answer = std::function<void(int error, simulated_socket connected)>;

    /// The address, with a port where that is 0; or EADDRINUSE.
    io_result<address> free_for_port(const address &at);
    io_result<address> free_for_mailbox(const address &at);

    /// Connects. The answer comes later.
    void connect(const address &to, answer answered);

    /// Sends a message, which arrives later, if it does.
    void post(const address &from, const address &to, std::string_view message);

    /// Something happens on the network; whether that is to break the connection where it does.
    bool step() noexcept;

    /// Whether this allocation of the network's thread fails; and how many have.
    bool allocation_fails() noexcept;
    std::uint64_t failed_allocations() const noexcept { return failed_allocations_; }

    simulated_time &time;
    const simulated_faults faults;

  private:
    friend class simulated_port;
    friend class simulated_mailbox;
    friend class simulated_work;

    std::map<std::string, simulated_port *> ports_;
    std::map<std::string, simulated_mailbox *> mailboxes_;
    std::uint64_t connections_ = 0;
    std::uint64_t steps_ = 0;
    std::uint64_t allocations_ = 0;
    std::uint64_t failed_allocations_ = 0;
    std::uint16_t next_port_ = 40'000;
    bool at_work_ = false;
};

/// While one exists its thread does what is the world's, be it that a flow asks: that has all the memory it needs.
class simulated_work
{
  public:
    explicit simulated_work(simulated_network &of) noexcept : of_(of), before_(std::exchange(of.at_work_, true)) {}
    ~simulated_work() { of_.at_work_ = before_; }
    simulated_work(const simulated_work &) = delete;
    simulated_work &operator=(const simulated_work &) = delete;

  private:
    simulated_network &of_;
    const bool before_;
};

} // namespace flux
