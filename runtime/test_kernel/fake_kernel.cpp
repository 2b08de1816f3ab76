#include "fake_kernel.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace {

fake_kernel *the_kernel = nullptr;
constinit thread_local fake_kernel *kernel_of_thread = nullptr;

} // namespace

kernel_faults kernel_faults_of(std::uint64_t seed)
{
    kernel_faults faults;
    if (seed % 8 == 0) {
        return faults;
    }
    flux::simulated_time dice(seed * 977);
    const auto draw = [&dice](unsigned often) {
        return dice.chance(500) ? static_cast<unsigned>(1 + dice.draw(often)) : 0;
    };
    faults.interrupts = draw(300);
    faults.late = draw(500);
    faults.spurious = draw(300);
    faults.accept_errors = draw(400);
    faults.refusals = draw(60);
    faults.no_buffers = draw(200);
    faults.last_results = draw(600);
    faults.most_at_once = dice.chance(300) ? 1 + dice.draw(3) : 256;
    faults.submissions = dice.chance(300) ? 2u << dice.draw(3) : 512;
    faults.held_by_child = draw(300);
    faults.empty_buffers = draw(500);
    return faults;
}

fake_kernel::fake_kernel(flux::simulation &world, const kernel_faults &happen, std::uint64_t seed)
    : faults(happen), world_(world), network_(world.network()), dice_(seed + 1)
{
    the_kernel = this;
}

fake_kernel::~fake_kernel()
{
    leave_thread();
    the_kernel = nullptr;
}

fake_kernel *fake_kernel::of_process() noexcept
{
    return the_kernel;
}

fake_kernel *fake_kernel::of_thread() noexcept
{
    return kernel_of_thread;
}

void fake_kernel::run_on_thread() noexcept
{
    kernel_of_thread = this;
}

void fake_kernel::leave_thread() noexcept
{
    kernel_of_thread = nullptr;
}

void fake_kernel::edge::go_on() noexcept
{
    place->wait(*this);
    file *const own = of->find(descriptor);
    if (own == nullptr) {
        return;
    }
    // Room is an edge only for who has found too little, when there is some.
    const bool is_input = this != &own->output;
    if (is_input || (own->socket.writable() && std::exchange(own->wants_room, false))) {
        of->edge_at(descriptor);
    }
}

fake_kernel::file *fake_kernel::find(int descriptor)
{
    const auto found = files_.find(descriptor);
    return found == files_.end() ? nullptr : found->second.get();
}

int fake_kernel::add(std::shared_ptr<file> made)
{
    files_.emplace(next_descriptor_, std::move(made));
    return next_descriptor_++;
}

int fake_kernel::make_epoll()
{
    auto made = std::make_shared<file>();
    made->is = kind::epoll;
    return add(std::move(made));
}

int fake_kernel::make_counter()
{
    counter_ = std::make_shared<file>();
    counter_->is = kind::counter;
    counter_descriptor_ = add(counter_);
    return counter_descriptor_;
}

int fake_kernel::make_socket(int family, int type)
{
    auto made = std::make_shared<file>();
    made->family = family;
    made->type = type & (SOCK_STREAM | SOCK_DGRAM);
    return add(std::move(made));
}

// Any thread calls this.
int fake_kernel::count(int) noexcept
{
    strokes_.fetch_add(1);
    world_.interrupt();
    return 0;
}

void fake_kernel::edge_at(int descriptor)
{
    if (file *const of = find(descriptor)) {
        ++of->edges;
    }
    for (interest &each : interests_) {
        each.queued = each.queued || each.descriptor == descriptor;
    }
}

std::uint32_t fake_kernel::state_of(const file &of) const
{
    constexpr std::uint32_t input = EPOLLIN;
    constexpr std::uint32_t output = EPOLLOUT;
    constexpr std::uint32_t hang_up = EPOLLRDHUP;
    switch (of.is) {
    case kind::counter:
        return seen_strokes_ != 0 ? input : 0;
    case kind::listener:
        return of.port->arrived.empty() ? 0 : input;
    case kind::datagrams:
        return (of.mailbox->arrived.empty() ? 0u : input) | output;
    case kind::stream:
        return (of.socket.readable() ? input | (of.socket.has_ended() ? hang_up : 0u) : 0u) |
               (of.socket.writable() ? output : 0u);
    case kind::fresh:
        return of.connecting ? 0 : of.error != 0 ? EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP : EPOLLHUP | EPOLLOUT;
    case kind::epoll:
        break;
    }
    return 0;
}

int fake_kernel::control(int, int what, int descriptor, const epoll_event *event)
{
    const auto known = std::ranges::find(interests_, descriptor, &interest::descriptor);
    if (what == EPOLL_CTL_DEL) {
        if (known == interests_.end()) {
            return -ENOENT;
        }
        interests_.erase(known);
        return 0;
    }
    file *const of = find(descriptor);
    if (of == nullptr) {
        return -EBADF;
    }
    if (known != interests_.end()) {
        return -EEXIST;
    }
    if (of->is == kind::stream && happens(faults.refusals)) {
        return happens(500) ? -ENOMEM : -ENOSPC;
    }
    interests_.push_back({descriptor, *event, (state_of(*of) & event->events) != 0});
    return 0;
}

// What the world does meanwhile: it goes on to the next event where nothing is there.
void fake_kernel::step(bool anything, flux::moment until)
{
    world_.wait(anything ? flux::moment::min() : until);
    world_.deliver();
    if (const std::uint64_t strokes = strokes_.load(); strokes != seen_strokes_) {
        seen_strokes_ = strokes;
        edge_at(counter_descriptor_);
    }
}

// In turns: who was given an event comes last next time.
void fake_kernel::collect(std::vector<epoll_event> &into, std::size_t most)
{
    std::vector<interest> given;
    for (auto each = interests_.begin(); each != interests_.end();) {
        const file *const of = find(each->descriptor);
        const bool may_be_for_nothing =
            !each->queued && of != nullptr && of->is != kind::counter && of->is != kind::fresh;
        const bool spurious = may_be_for_nothing && happens(faults.spurious / 8);
        if (!each->queued && !spurious) {
            ++each;
            continue;
        }
        if (into.size() == most || happens(faults.late)) {
            ++each;
            continue;
        }
        // One that is closed, and held by a child, has hung up.
        const std::uint32_t asked_for = each->event.events | EPOLLERR | EPOLLHUP;
        std::uint32_t events = of == nullptr ? EPOLLIN | EPOLLHUP : state_of(*of) & asked_for;
        events |= spurious ? each->event.events & (EPOLLIN | EPOLLOUT) : 0;
        const bool is_gone = of == nullptr;
        each->queued = false;
        if (events != 0) {
            into.push_back({events, each->event.data});
        }
        if (!is_gone) {
            given.push_back(*each);
        }
        each = interests_.erase(each);
    }
    interests_.insert(interests_.end(), given.begin(), given.end());
}

int fake_kernel::wait(int, std::span<epoll_event> into, flux::moment until)
{
    if (happens(faults.interrupts / 2)) {
        step(true, until);
        return -EINTR;
    }
    std::vector<epoll_event> found;
    do {
        step(std::ranges::any_of(interests_, &interest::queued), until);
        collect(found, std::min(into.size(), faults.most_at_once));
    } while (found.empty() && now() < until);
    std::ranges::copy(found, into.begin());
    return static_cast<int>(found.size());
}

int fake_kernel::bind(int descriptor, const flux::address &to)
{
    file &of = *find(descriptor);
    const flux::simulated_work binding(network_);
    const bool is_stream = of.type == SOCK_STREAM;
    const auto own = is_stream ? network_.free_for_port(to) : network_.free_for_mailbox(to);
    if (!own.has_value()) {
        return -own.error();
    }
    of.local = *own;
    if (!is_stream) {
        of.is = kind::datagrams;
        of.mailbox = std::make_unique<flux::simulated_mailbox>(network_, *own);
        of.input.of = this;
        of.input.descriptor = descriptor;
        of.input.place = &of.mailbox->reader;
        of.mailbox->reader.wait(of.input);
    }
    return 0;
}

int fake_kernel::listen(int descriptor)
{
    file &of = *find(descriptor);
    const flux::simulated_work listening(network_);
    of.is = kind::listener;
    of.port = std::make_unique<flux::simulated_port>(network_, of.local);
    of.input.of = this;
    of.input.descriptor = descriptor;
    of.input.place = &of.port->acceptor;
    of.port->acceptor.wait(of.input);
    return 0;
}

void fake_kernel::become_stream(file &of, int descriptor, flux::simulated_socket socket)
{
    of.is = kind::stream;
    of.connecting = false;
    of.socket = std::move(socket);
    const auto wait_at = [&](edge &own, flux::simulated_place &place) {
        own.of = this;
        own.descriptor = descriptor;
        own.place = &place;
        place.wait(own);
    };
    wait_at(of.input, of.socket.reader());
    wait_at(of.output, of.socket.writer());
}

int fake_kernel::accept(int descriptor, flux::address &peer)
{
    constexpr int errors_of_peers[] = {ECONNABORTED, EPROTO, ENETDOWN, EHOSTUNREACH, ENETUNREACH, EHOSTDOWN, ENONET,
                                       EOPNOTSUPP, ENOPROTOOPT, EINTR};
    file &of = *find(descriptor);
    if (of.port->arrived.empty()) {
        return -EAGAIN;
    }
    if (happens(faults.accept_errors)) {
        return -errors_of_peers[dice_.draw(std::size(errors_of_peers))];
    }
    if (happens(network_.faults.out_of_descriptors)) {
        return -EMFILE;
    }
    const flux::simulated_work accepting(network_);
    auto made = std::make_shared<file>();
    file &fresh = *made;
    const int number = add(std::move(made));
    become_stream(fresh, number, std::move(of.port->arrived.front().first));
    peer = of.port->arrived.front().second;
    of.port->arrived.pop_front();
    return number;
}

int fake_kernel::connect(int descriptor, const flux::address &to)
{
    const flux::simulated_work connecting(network_);
    const std::shared_ptr<file> of = files_.at(descriptor);
    of->connecting = true;
    network_.connect(to, [this, of, descriptor](int error, flux::simulated_socket connected) {
        of->connecting = false;
        of->error = error;
        if (find(descriptor) != of.get()) {
            return; // it was closed meanwhile
        }
        if (error == 0) {
            become_stream(*of, descriptor, std::move(connected));
        }
        edge_at(descriptor);
    });
    return happens(faults.interrupts) ? -EINTR : -EINPROGRESS;
}

int fake_kernel::error_of(int descriptor)
{
    return std::exchange(find(descriptor)->error, 0);
}

flux::address fake_kernel::local(int descriptor)
{
    return find(descriptor)->local;
}

// Less than was asked for is all there is.
ssize_t fake_kernel::receive(int descriptor, std::span<std::byte> into, bool peek)
{
    file &of = *find(descriptor);
    if (happens(faults.interrupts)) {
        return -EINTR;
    }
    if (of.is != kind::stream) {
        return of.connecting ? -EAGAIN : -ENOTCONN;
    }
    if (!of.socket.readable()) {
        return -EAGAIN;
    }
    if (peek) {
        return 0;
    }
    const flux::simulated_work receiving(network_);
    std::size_t count = 0;
    while (count < into.size()) {
        const std::size_t some = of.socket.take(into.subspan(count));
        if (some == 0) {
            break;
        }
        count += some;
    }
    if (count == 0 && of.socket.error() == ECONNRESET) {
        return -ECONNRESET;
    }
    return static_cast<ssize_t>(count);
}

ssize_t fake_kernel::send(int descriptor, std::span<const iovec> parts)
{
    file &of = *find(descriptor);
    if (happens(faults.interrupts)) {
        return -EINTR;
    }
    if (of.is != kind::stream) {
        return -EPIPE;
    }
    if (of.socket.writable()) {
        if (const int error = of.socket.error(); error != 0) {
            return -error;
        }
    }
    const flux::simulated_work sending(network_);
    std::size_t count = 0;
    for (const iovec &each : parts) {
        const std::size_t some = of.socket.put({static_cast<const char *>(each.iov_base), each.iov_len});
        count += some;
        if (some < each.iov_len) {
            of.wants_room = true;
            break;
        }
    }
    return count == 0 ? -EAGAIN : static_cast<ssize_t>(count);
}

ssize_t fake_kernel::receive_message(int descriptor, std::span<std::byte> into, flux::address &from)
{
    file &of = *find(descriptor);
    if (happens(faults.interrupts)) {
        return -EINTR;
    }
    if (of.mailbox->arrived.empty()) {
        return happens(faults.spurious / 8) ? -ECONNREFUSED : -EAGAIN;
    }
    const auto [message, sender] = std::move(of.mailbox->arrived.front());
    of.mailbox->arrived.pop_front();
    const std::size_t size = std::min(into.size(), message.size());
    std::memcpy(into.data(), message.data(), size);
    from = sender;
    return static_cast<ssize_t>(size);
}

ssize_t fake_kernel::send_message(int descriptor, std::string_view message, const flux::address &to)
{
    file &of = *find(descriptor);
    if (happens(faults.interrupts)) {
        return -EINTR;
    }
    const flux::simulated_work sending(network_);
    network_.post(of.local, to, message);
    return static_cast<ssize_t>(message.size());
}

int fake_kernel::end_output(int descriptor)
{
    file &of = *find(descriptor);
    if (of.is != kind::stream) {
        return -ENOTCONN;
    }
    const flux::simulated_work ending(network_);
    of.socket.end();
    return 0;
}

int fake_kernel::close(int descriptor)
{
    const auto found = files_.find(descriptor);
    if (found == files_.end()) {
        return -EBADF;
    }
    const flux::simulated_work closing(network_);
    const bool is_held = found->second->is == kind::stream && happens(faults.held_by_child);
    const std::shared_ptr<file> gone = std::move(found->second);
    files_.erase(found);
    if (is_held) {
        edge_at(descriptor);
    } else {
        std::erase_if(interests_, [&](const interest &each) { return each.descriptor == descriptor; });
    }
    return 0;
}
