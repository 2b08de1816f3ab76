#include "flux/connection.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace flux {

connection::connection(std::unique_ptr<stream> through, const address &peer) noexcept
    : through_(std::move(through)), peer_(peer)
{
}

connection::connection(std::unique_ptr<stream> through, const address &peer,
                       std::shared_ptr<connections> owner) noexcept
    : through_(std::move(through)), peer_(peer), owner_(std::move(owner))
{
}

io_result<std::size_t> connection::receive(std::span<std::byte> into, moment deadline) noexcept
{
    if (read_of_unread_ == unread_.size()) {
        const io_result<std::size_t> received = through_->receive(into, deadline);
        ended_ = received.has_value() && *received == 0 && !into.empty();
        return received;
    }
    const std::size_t count = std::min(into.size(), unread_.size() - read_of_unread_);
    std::memcpy(into.data(), unread_.data() + read_of_unread_, count);
    read_of_unread_ += count;
    if (read_of_unread_ == unread_.size()) {
        // An idle connection keeps no memory for what it has had.
        std::vector<std::byte>().swap(unread_);
        read_of_unread_ = 0;
    }
    return count;
}

void connection::put_back(std::span<const std::byte> unused)
{
    unread_.erase(unread_.begin(), unread_.begin() + static_cast<std::ptrdiff_t>(read_of_unread_));
    read_of_unread_ = 0;
    unread_.insert(unread_.begin(), unused.begin(), unused.end());
}

io_result<void> connection::send(std::string_view bytes, moment deadline) noexcept
{
    iovec whole{const_cast<char *>(bytes.data()), bytes.size()};
    if (bytes.empty()) {
        return {};
    }
    return through_->send({&whole, 1}, deadline);
}

io_result<void> connection::send(std::span<iovec> parts, moment deadline) noexcept
{
    return through_->send(parts, deadline);
}

void connection::give_back() noexcept
{
    if (owner_ == nullptr || ended_) {
        return close();
    }
    const std::shared_ptr<connections> owner = owner_; // it may close this
    owner->take_back(*this);
}

void connection::close() noexcept
{
    delete this;
}

connections::connections(io &through, listener &from, first_given first, std::chrono::milliseconds idle_limit)
    : arrivals_(through.make_arrivals()), first_given_(first), idle_limit_(idle_limit), through_(through)
{
    if (const io_result<void> watched = arrivals_->watch(from); !watched.has_value()) {
        throw std::system_error(watched.error(), std::generic_category(), "listener");
    }
}

connections::~connections()
{
    // Each connection owns a share of this, so none is left.
    assert(first_ == nullptr);
}

io_result<connection *> connections::next() noexcept
{
    while (true) {
        io_result<arrivals::arrival> came = arrivals_->next(close_idle(through_.now()));
        if (!came.has_value()) {
            if (came.error() == ETIMEDOUT) {
                continue;
            }
            if (came.error() == ECANCELED) {
                end();
            }
            return unexpected(came.error());
        }
        arrivals::arrival somebody = *std::move(came);
        if (somebody.accepted == nullptr) {
            connection &told = *static_cast<connection *>(somebody.owner);
            const std::lock_guard alone(lock_);
            take_out(told);
            return &told;
        }
        if (connection *const fresh = add(std::move(somebody))) {
            if (first_given_ == first_given::at_once) {
                return fresh;
            }
            keep(*fresh, false);
        }
    }
}

// Null where there is no memory: the peer is sent away.
connection *connections::add(arrivals::arrival somebody) noexcept
{
    return new (std::nothrow) connection(std::move(somebody.accepted), somebody.from, shared_from_this());
}

void connections::take_back(connection &unused) noexcept
{
    keep(unused, unused.read_of_unread_ != unused.unread_.size());
}

void connections::keep(connection &idle, bool soon) noexcept
{
    const std::unique_lock alone(lock_);
    idle.idle_since_ = through_.now();
    idle.next_ = nullptr;
    idle.previous_ = last_;
    (last_ == nullptr ? first_ : last_->next_) = &idle;
    last_ = &idle;
    idle.idle_ = true;
    // Under the lock: who is told takes it out of the row.
    if (ended_ || !arrivals_->watch(*idle.through_, &idle, soon).has_value()) {
        take_out(idle);
        idle.close();
    }
}

void connections::take_out(connection &idle) noexcept
{
    if (std::exchange(idle.idle_, false)) {
        (idle.previous_ == nullptr ? first_ : idle.previous_->next_) = idle.next_;
        (idle.next_ == nullptr ? last_ : idle.next_->previous_) = idle.previous_;
    }
}

// Gives when there may be more to close.
moment connections::close_idle(moment now) noexcept
{
    const std::lock_guard alone(lock_);
    while (first_ != nullptr && first_->idle_since_ + idle_limit_ <= now) {
        connection &oldest = *first_;
        take_out(oldest);
        // One that has been told is given to a flow yet.
        if (arrivals_->forget(*oldest.through_)) {
            oldest.close();
        }
    }
    return first_ == nullptr ? never : first_->idle_since_ + idle_limit_;
}

void connections::end() noexcept
{
    {
        const std::lock_guard alone(lock_);
        ended_ = true;
    }
    close_idle(never);
    // Those that were told, and that nobody will be given any more.
    for (auto told = arrivals_->next(moment::min()); told.has_value(); told = arrivals_->next(moment::min())) {
        if (void *const owner = (*told).owner) {
            static_cast<connection *>(owner)->close();
        }
    }
}

io_result<connection *> connect(const address &to, moment deadline) noexcept
{
    io_result<std::unique_ptr<stream>> connected = running_io().connect(to, deadline);
    if (!connected.has_value()) {
        return unexpected(connected.error());
    }
    auto *const made = new (std::nothrow) connection(*std::move(connected), to);
    if (made == nullptr) {
        return unexpected(ENOMEM);
    }
    return made;
}

} // namespace flux
