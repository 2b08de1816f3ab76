#include "flux/simulation/simulated_peer.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace flux {
namespace {

/// How long a slow peer takes at most, and how many bytes it receives then.
constexpr std::uint64_t longest_dawdling_us = 100'000;
constexpr std::size_t slow_receive = 3;

} // namespace

simulated_peer::simulated_peer(simulated_network &of, std::string name, script does, stack on,
                               std::chrono::nanoseconds begin)
    : network_(of), name_(std::move(name)), script_(std::move(does)), fiber_(on)
{
    const auto run = [](void *argument) {
        simulated_peer &self = *static_cast<simulated_peer *>(argument);
        self.script_(self);
        self.socket_ = {};
        self.port_ = nullptr;
        self.mailbox_ = nullptr;
        self.ended_ = true;
        self.network_.time.note(self.name_ + " ends");
    };
    fiber_.prepare(run, this);
    network_.time.after(begin, [this] {
        network_.time.soon(network_.faults.longest_delay, [this] { go_on(); });
    });
}

void simulated_peer::wait(std::chrono::nanoseconds time)
{
    network_.time.after(time, [this] { go_on(); });
    suspend("time");
}

int simulated_peer::connect(const address &to)
{
    close();
    int error = 0;
    network_.connect(to, [this, &error](int failed, simulated_socket connected) {
        error = failed;
        socket_ = std::move(connected);
        go_on();
    });
    suspend("a connection");
    broken_ = error != 0;
    return error;
}

int simulated_peer::listen(const address &at)
{
    const io_result<address> own = network_.free_for_port(at);
    if (!own.has_value()) {
        return own.error();
    }
    port_ = std::make_unique<simulated_port>(network_, *own);
    return 0;
}

void simulated_peer::accept()
{
    close();
    while (port_->arrived.empty()) {
        rest_at(port_->acceptor, for_somebody);
    }
    socket_ = std::move(port_->arrived.front().first);
    port_->arrived.pop_front();
    broken_ = false;
}

int simulated_peer::send(std::string_view bytes)
{
    dawdle();
    while (!bytes.empty()) {
        while (!socket_.writable()) {
            rest_at(socket_.writer(), "room to send");
        }
        if (const int error = socket_.error(); error != 0) {
            broken_ = true;
            return error;
        }
        bytes.remove_prefix(socket_.put(bytes));
    }
    return 0;
}

std::string simulated_peer::receive(std::size_t most)
{
    if (dawdle()) {
        most = std::min(most, slow_receive);
    }
    while (!socket_.readable()) {
        rest_at(socket_.reader(), "something to receive");
    }
    std::string received(most, '\0');
    received.resize(socket_.take(std::as_writable_bytes(std::span(received))));
    broken_ = received.empty() && socket_.error() != 0;
    return received;
}

std::string simulated_peer::receive_exactly(std::size_t size)
{
    std::string all;
    while (all.size() < size) {
        const std::string some = receive(size - all.size());
        if (some.empty()) {
            break;
        }
        all += some;
    }
    return all;
}

std::string simulated_peer::receive_all()
{
    std::string all;
    for (std::string some = receive(); !some.empty(); some = receive()) {
        all += some;
    }
    return all;
}

void simulated_peer::reset()
{
    socket_.reset();
    close();
}

int simulated_peer::bind(const address &at)
{
    const io_result<address> own = network_.free_for_mailbox(at);
    if (!own.has_value()) {
        return own.error();
    }
    mailbox_ = std::make_unique<simulated_mailbox>(network_, *own);
    return 0;
}

void simulated_peer::send_message(const address &to, std::string_view message)
{
    network_.post(mailbox_->local(), to, message);
}

std::optional<std::pair<std::string, address>> simulated_peer::receive_message(std::chrono::nanoseconds longest)
{
    // Who is notified here may come too late: the place is somebody's only as long as he waits.
    const auto waits = std::make_shared<bool>(true);
    network_.time.after(longest, [this, waits] {
        if (*waits) {
            mailbox_->reader.tell();
        }
    });
    const moment until = network_.time.now() + longest;
    while (mailbox_->arrived.empty() && network_.time.now() < until) {
        rest_at(mailbox_->reader, "a message");
    }
    *waits = false;
    if (mailbox_->arrived.empty()) {
        return std::nullopt;
    }
    std::pair<std::string, address> received = std::move(mailbox_->arrived.front());
    mailbox_->arrived.pop_front();
    return received;
}

bool simulated_peer::expect(bool holds, std::string_view what)
{
    if (!holds) {
        const std::string line = name_ + " expects in vain: " + std::string(what);
        network_.time.note(line);
        failed_expectations_ += line + '\n';
    }
    return holds;
}

// Takes its time, where it is slow: whether it did.
bool simulated_peer::dawdle()
{
    if (!network_.time.chance(network_.faults.slow_peers)) {
        return false;
    }
    wait(std::chrono::microseconds(network_.time.draw(longest_dawdling_us)));
    return true;
}

// An event goes on with the script, until it waits again.
void simulated_peer::go_on() noexcept
{
    waits_for_ = {};
    fiber_.resume();
}

void simulated_peer::suspend(std::string_view for_what) noexcept
{
    waits_for_ = for_what;
    fiber_.park();
}

void simulated_peer::rest_at(simulated_place &place, std::string_view for_what) noexcept
{
    place.wait(*this);
    suspend(for_what);
}

} // namespace flux
