#include "flux/connection.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace flux {
namespace {

/// Within the idle limit each connection is looked at so often.
constexpr unsigned char most_looks = 4;

/// Where there is always somebody who has come, the time is asked for when so many have.
constexpr unsigned many = 256;

} // namespace

connection::connection(std::unique_ptr<stream> through, const address &peer) noexcept
    : through_(std::move(through)), peer_(peer)
{
}

connection::connection(arrivals::arrival accepted, std::shared_ptr<connections> owner) noexcept
    : through_(std::move(accepted.accepted)), owner_(std::move(owner)), peer_(accepted.from),
      seat_(std::move(accepted.seat))
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
    if (owner_ != nullptr) {
        owner_->forget(*this);
    }
    delete this;
}

connections::connections(io &through, listener &from, first_given first, std::chrono::milliseconds idle_limit)
    : arrivals_(through.make_arrivals()), first_given_(first), look_period_(moment::duration(idle_limit) / most_looks),
      through_(through)
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
        io_result<arrivals::arrival> came = arrivals_->next(look_at_);
        if (!came.has_value()) {
            if (came.error() == ETIMEDOUT) {
                look_at_all(through_.now());
                continue;
            }
            return unexpected(came.error());
        }
        if (++came_ == many) {
            came_ = 0;
            look_at_all(through_.now());
        }
        if ((*came).accepted == nullptr && (*came).owner == nullptr) {
            close_entrance();
            continue;
        }
        if ((*came).accepted == nullptr) {
            auto *const told = static_cast<connection *>((*came).owner);
            served(*told);
            return told;
        }
        if (connection *const fresh = add(*std::move(came))) {
            // One that has asked already is served before the next is accepted: that one others can have.
            if (first_given_ == first_given::at_once || fresh->through_->has_input()) {
                return fresh;
            }
            fresh->fresh_ = true;
            ++fresh_;
            keep(*fresh, false);
        }
    }
}

// A flow has it, or nobody will.
void connections::served(connection &known) noexcept
{
    if (std::exchange(known.fresh_, false) && --fresh_ == 0 && !accepts_) {
        entrance_.close();
    }
}

// Nobody is accepted any more.
void connections::close_entrance() noexcept
{
    accepts_ = false;
    if (fresh_ == 0) {
        entrance_.close();
    }
}

// Null where there is no memory: the peer is sent away.
connection *connections::add(arrivals::arrival somebody) noexcept
{
    auto *const fresh = new (std::nothrow) connection(std::move(somebody), shared_from_this());
    if (fresh != nullptr) {
        const moment now = through_.now();
        const std::lock_guard alone(lock_);
        append(*fresh, now);
        look_at_ = first_->look_at_;
    }
    return fresh;
}

void connections::take_back(connection &unused) noexcept
{
    keep(unused, unused.read_of_unread_ != unused.unread_.size());
}

void connections::keep(connection &idle, bool soon) noexcept
{
    bool kept = false;
    {
        const std::lock_guard alone(lock_);
        idle.quiet_looks_ = 0;
        kept = !ended_ && arrivals_->watch(*idle.through_, &idle, soon).has_value();
    }
    if (!kept) {
        served(idle);
        idle.close();
    }
}

void connections::look_at_all(moment now) noexcept
{
    const std::lock_guard alone(lock_);
    while (first_ != nullptr && first_->look_at_ <= now) {
        connection &longest = *first_;
        unlink(longest);
        // Only one that nobody has, and that has not been told, can be forgotten.
        if (longest.quiet_looks_ >= most_looks && arrivals_->forget(*longest.through_)) {
            served(longest);
            delete &longest;
        } else {
            longest.quiet_looks_ = static_cast<unsigned char>(std::min(longest.quiet_looks_ + 1, int{most_looks}));
            append(longest, now);
        }
    }
    look_at_ = first_ == nullptr ? never : first_->look_at_;
}

void connections::append(connection &looked_at, moment now) noexcept
{
    looked_at.look_at_ = now + look_period_;
    looked_at.next_ = nullptr;
    looked_at.previous_ = last_;
    (last_ == nullptr ? first_ : last_->next_) = &looked_at;
    last_ = &looked_at;
}

void connections::unlink(connection &linked) noexcept
{
    (linked.previous_ == nullptr ? first_ : linked.previous_->next_) = linked.next_;
    (linked.next_ == nullptr ? last_ : linked.next_->previous_) = linked.previous_;
}

void connections::forget(connection &closing) noexcept
{
    const std::lock_guard alone(lock_);
    unlink(closing);
}

void connections::end() noexcept
{
    {
        const std::lock_guard alone(lock_);
        ended_ = true;
        for (connection *each = first_; each != nullptr;) {
            connection &idle = *std::exchange(each, each->next_);
            if (arrivals_->forget(*idle.through_)) {
                unlink(idle);
                delete &idle;
            }
        }
    }
    // Nobody will be given those that were told. Who has not been accepted waits for the next server.
    while (void *const owner = arrivals_->next_ready()) {
        static_cast<connection *>(owner)->close();
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
