#include "flux/simulated_network.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>

namespace flux {
namespace {

/// The peers' own ports, which nobody listens at.
constexpr std::uint16_t first_client_port = 50'000;

std::string key_of(const address &at)
{
    return at.storage.ss_family == AF_UNIX ? at.text() : std::to_string(at.port());
}

address with_port(const address &at, std::uint16_t port) noexcept
{
    address changed = at;
    if (at.storage.ss_family == AF_INET) {
        reinterpret_cast<sockaddr_in &>(changed.storage).sin_port = htons(port);
    } else if (at.storage.ss_family == AF_INET6) {
        reinterpret_cast<sockaddr_in6 &>(changed.storage).sin6_port = htons(port);
    }
    return changed;
}

template <class Parties>
io_result<address> free_address(const address &at, const Parties &parties, std::uint16_t &next_port)
{
    if (at.storage.ss_family != AF_UNIX && at.port() == 0) {
        return with_port(at, next_port++);
    }
    if (parties.contains(key_of(at))) {
        return unexpected(EADDRINUSE);
    }
    return at;
}

} // namespace

simulated_faults faults_of(std::uint64_t seed) noexcept
{
    simulated_faults faults;
    if (seed % 8 == 0) {
        return faults;
    }
    simulated_time dice(seed);
    const auto draw = [&dice](unsigned often) {
        const bool happens = dice.chance(400);
        return happens ? static_cast<unsigned>(1 + dice.draw(often)) : 0;
    };
    faults.short_transfers = draw(900);
    faults.false_wakes = draw(500);
    faults.resets = draw(100);
    faults.reset_at_step = draw(60);
    faults.out_of_memory = draw(50);
    faults.out_of_descriptors = draw(200);
    faults.lost_messages = draw(300);
    faults.doubled_messages = draw(300);
    faults.small_windows = draw(1000);
    constexpr std::array<int, 4> longest_delays_us{0, 100, 2'000, 20'000};
    faults.longest_delay = std::chrono::microseconds(longest_delays_us[dice.draw(longest_delays_us.size())]);
    faults.slow_peers = draw(100);
    faults.failed_allocations = draw(30);
    return faults;
}

simulated_connection::simulated_connection(simulated_network &of, std::uint64_t number) noexcept
    : network_(of), number_(number)
{
    constexpr std::array<std::size_t, 4> small{1, 2, 7, 100};
    for (one_side &each : sides_) {
        const bool is_small = of.time.chance(of.faults.small_windows);
        each.window = is_small ? small[of.time.draw(small.size())] : std::size_t{64} << 10;
    }
}

bool simulated_connection::readable(int side) const noexcept
{
    const one_side &own = sides_[static_cast<std::size_t>(side)];
    return !own.arrived.empty() || own.ended || broken_;
}

bool simulated_connection::writable(int side) const noexcept
{
    const one_side &other = sides_[static_cast<std::size_t>(1 - side)];
    return other.arrived.size() + other.on_its_way.size() < other.window || broken_;
}

std::size_t simulated_connection::take(int side, std::span<std::byte> into)
{
    one_side &own = to(side);
    std::size_t count = std::min(into.size(), own.arrived.size());
    if (count > 1 && network_.time.chance(network_.faults.short_transfers)) {
        count = 1 + network_.time.draw(count);
    }
    std::memcpy(into.data(), own.arrived.data(), count);
    own.arrived.erase(0, count);
    // The other side learns that there is room.
    if (count != 0 && to(1 - side).writer.taken()) {
        network_.time.soon(network_.faults.longest_delay,
                           [self = shared_from_this(), side] { self->writer(1 - side).tell(); });
    }
    return count;
}

std::size_t simulated_connection::put(int side, std::string_view bytes)
{
    one_side &other = to(1 - side);
    if (broken_) {
        return 0;
    }
    const std::size_t room = other.window - std::min(other.window, other.arrived.size() + other.on_its_way.size());
    std::size_t count = std::min(room, bytes.size());
    if (count > 1 && network_.time.chance(network_.faults.short_transfers)) {
        count = 1 + network_.time.draw(count);
    }
    other.on_its_way.append(bytes.substr(0, count));
    move(1 - side);
    return count;
}

void simulated_connection::end(int side)
{
    to(1 - side).end_on_its_way = true;
    move(1 - side);
}

void simulated_connection::close(int side)
{
    one_side &own = to(side);
    own.closed = true;
    own.reader.leave();
    own.writer.leave();
    if (!own.arrived.empty()) {
        reset(); // as TCP does, so that the other does not take it for received (RFC 2525, 2.17)
    } else {
        end(side);
    }
}

void simulated_connection::reset()
{
    if (std::exchange(broken_, true)) {
        return;
    }
    network_.time.note("connection " + std::to_string(number_) + " breaks");
    for (one_side &each : sides_) {
        each.on_its_way.clear();
        // What has arrived may be received yet, or not.
        if (network_.time.chance(500)) {
            each.arrived.clear();
        }
    }
    network_.time.soon(network_.faults.longest_delay, [self = shared_from_this()] {
        for (one_side &each : self->sides_) {
            each.reader.tell();
            each.writer.tell();
        }
    });
}

void simulated_connection::tell_soon(simulated_place &place)
{
    network_.time.soon(network_.faults.longest_delay, [self = shared_from_this(), &place] { place.tell(); });
}

int simulated_connection::error(int side) noexcept
{
    if (!broken_) {
        return 0;
    }
    return std::exchange(to(side).told_error, true) ? EPIPE : ECONNRESET;
}

// What is on its way to this side arrives later, in its order.
void simulated_connection::move(int side)
{
    one_side &towards = to(side);
    const bool something = !towards.on_its_way.empty() || (towards.end_on_its_way && !towards.ended);
    if (something && !towards.moves && !broken_) {
        towards.moves = true;
        network_.time.soon(network_.faults.longest_delay, [self = shared_from_this(), side] { self->arrive(side); });
    }
}

void simulated_connection::arrive(int side)
{
    one_side &towards = to(side);
    towards.moves = false;
    if (broken_) {
        return;
    }
    if (network_.step() || (towards.closed && !towards.on_its_way.empty())) {
        return reset();
    }
    std::size_t count = towards.on_its_way.size();
    if (count > 1 && network_.time.chance(500)) {
        count = 1 + network_.time.draw(count);
    }
    const std::string name = "connection " + std::to_string(number_) + (side == 1 ? " forth: " : " back: ");
    towards.arrived.append(towards.on_its_way, 0, count);
    towards.on_its_way.erase(0, count);
    if (count != 0) {
        network_.time.note(name + std::to_string(count));
    }
    if (towards.on_its_way.empty() && towards.end_on_its_way && (count == 0 || network_.time.chance(500))) {
        towards.ended = true;
        network_.time.note(name + "end");
    }
    move(side);
    towards.reader.tell();
}

simulated_port::simulated_port(simulated_network &of, const address &at) : network_(&of), local_(at)
{
    network_->ports_.emplace(key_of(local_), this);
}

simulated_port::~simulated_port()
{
    if (network_ == nullptr) {
        return;
    }
    network_->ports_.erase(key_of(local_));
    for (auto &[waits, from] : arrived) {
        waits.reset();
    }
}

simulated_mailbox::simulated_mailbox(simulated_network &of, const address &at) : network_(&of), local_(at)
{
    network_->mailboxes_.emplace(key_of(local_), this);
}

simulated_mailbox::~simulated_mailbox()
{
    if (network_ != nullptr) {
        network_->mailboxes_.erase(key_of(local_));
    }
}

simulated_network::~simulated_network()
{
    for (const auto &[key, port] : ports_) {
        port->arrived.clear();
        port->network_ = nullptr;
    }
    for (const auto &[key, mailbox] : mailboxes_) {
        mailbox->network_ = nullptr;
    }
}

io_result<address> simulated_network::free_for_port(const address &at)
{
    return free_address(at, ports_, next_port_);
}

io_result<address> simulated_network::free_for_mailbox(const address &at)
{
    return free_address(at, mailboxes_, next_port_);
}

void simulated_network::connect(const address &to, answer answered)
{
    time.soon(faults.longest_delay, [this, key = key_of(to), answered = std::move(answered)] {
        const auto found = ports_.find(key);
        if (found == ports_.end() || step()) {
            const int error = found == ports_.end() ? ECONNREFUSED : ECONNRESET;
            time.soon(faults.longest_delay, [answered, error] { answered(error, {}); });
            return;
        }
        const std::uint64_t number = ++connections_;
        time.note("connection " + std::to_string(number) + " to " + key);
        const auto made = std::make_shared<simulated_connection>(*this, number);
        const auto port = static_cast<std::uint16_t>(first_client_port + number % 10'000);
        found->second->arrived.emplace_back(simulated_socket(made, 1), loopback_address(port));
        found->second->acceptor.tell();
        const auto own = std::make_shared<simulated_socket>(made, 0);
        time.soon(faults.longest_delay, [answered, own] { answered(0, std::move(*own)); });
    });
}

void simulated_network::post(const address &from, const address &to, std::string_view message)
{
    const int copies = time.chance(faults.lost_messages) ? 0 : time.chance(faults.doubled_messages) ? 2 : 1;
    for (int each = 0; each < copies; ++each) {
        time.soon(faults.longest_delay, [this, from, key = key_of(to), message = std::string(message)] {
            if (const auto found = mailboxes_.find(key); found != mailboxes_.end()) {
                time.note("message to " + key + ": " + std::to_string(message.size()));
                found->second->arrived.emplace_back(message, from);
                found->second->reader.tell();
            }
        });
    }
}

bool simulated_network::allocation_fails() noexcept
{
    if (at_work_) {
        return false;
    }
    const bool fails = ++allocations_ == faults.allocation_that_fails ||
                       (faults.failed_allocations != 0 && time.chance(faults.failed_allocations));
    failed_allocations_ += fails ? 1 : 0;
    return fails;
}

bool simulated_network::step() noexcept
{
    return ++steps_ == faults.reset_at_step || time.chance(faults.resets);
}

} // namespace flux
