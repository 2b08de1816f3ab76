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

/// The connections that are closed. Their memory stays theirs, so that each can be asked at any time whether it is
/// open; the one that was closed first is opened again first, and not before so many others have been closed.
class connection_store
{
  public:
    connection *take() noexcept
    {
        const std::lock_guard alone(lock_);
        if (count_ <= least_closed) {
            return new (std::nothrow) connection;
        }
        --count_;
        return std::exchange(first_, first_->next_);
    }

    void give_back(connection &closed) noexcept
    {
        const std::lock_guard alone(lock_);
        closed.next_ = nullptr;
        (first_ == nullptr ? first_ : last_->next_) = &closed;
        last_ = &closed;
        ++count_;
    }

  private:
    static constexpr std::size_t least_closed = 64;

    std::mutex lock_;
    connection *first_ = nullptr;
    connection *last_ = nullptr;
    std::size_t count_ = 0;
};

namespace {

constinit connection_store closed_connections;

/// Its address stands for all flows.
constexpr char any_flow = 0;

} // namespace

connection *connection::open(arrivals::arrival accepted, std::shared_ptr<connections> source) noexcept
{
    connection *const opened = closed_connections.take();
    if (opened != nullptr) {
        opened->through_ = std::move(accepted.accepted);
        opened->source_ = std::move(source);
        opened->peer_ = accepted.from;
        opened->seat_ = std::move(accepted.seat);
        opened->ended_ = false;
        opened->fresh_ = false;
        opened->quiet_looks_ = 0;
    }
    return opened;
}

int connection::usable_otherwise(const void *owner) const noexcept
{
    const bool by_branch = owner != nullptr && running_flow != nullptr && owner == &running_flow->root();
    return by_branch || owner == &any_flow ? 0 : EBADF;
}

// Outside of all flows it is detached from the beginning.
void connection::use_by_caller() noexcept
{
    if (running_flow == nullptr) {
        used_by_.store(&any_flow, std::memory_order_relaxed);
        return;
    }
    at_end_ = at_end::forgotten;
    used_by_.store(&running_flow->root(), std::memory_order_relaxed);
    running_flow->owned().add(*this, *running_flow);
}

// Nobody uses it any more. False where that has to wait for the end of the flow, as a branch has called.
bool connection::leave_flow(at_end how) noexcept
{
    const void *const owner = used_by_.exchange(nullptr, std::memory_order_relaxed);
    if (owner == &any_flow) {
        return true;
    }
    if (running_flow->parent() != nullptr) {
        at_end_ = how;
        return false;
    }
    running_flow->owned().remove(*this, *running_flow);
    return true;
}

bool connection::flow_has_ended() noexcept
{
    used_by_.store(nullptr, std::memory_order_relaxed);
    const at_end how = at_end_; // afterwards it may be another flow's
    how == at_end::given_back ? go_back() : end();
    return how == at_end::forgotten;
}

io_result<std::size_t> connection::receive(std::span<std::byte> into, moment deadline) noexcept
{
    if (const int error = usable(); error != 0) {
        return unexpected(error);
    }
    if (read_of_unread_ == unread_.size()) {
        const io_result<std::size_t> received = through_->receive(into, deadline);
        ended_ = received.has_value() && *received == 0 && !into.empty();
        return received;
    }
    const std::size_t count = std::min(into.size(), unread_.size() - read_of_unread_);
    std::memcpy(into.data(), unread_.data() + read_of_unread_, count);
    read_of_unread_ += count;
    return count;
}

io_result<void> connection::put_back(std::span<const std::byte> unused)
{
    if (const int error = usable(); error != 0) {
        return unexpected(error);
    }
    if (unused.size() > read_of_unread_) {
        // Before what is there, as much room again: so that what is put back often is moved seldom.
        const std::size_t unread = unread_.size() - read_of_unread_;
        const std::size_t room = unused.size() + unread;
        std::vector<std::byte> larger(room + unread);
        std::copy_backward(unread_.begin() + static_cast<std::ptrdiff_t>(read_of_unread_), unread_.end(), larger.end());
        unread_.swap(larger);
        read_of_unread_ = room;
    }
    read_of_unread_ -= unused.size();
    std::copy(unused.begin(), unused.end(), unread_.begin() + static_cast<std::ptrdiff_t>(read_of_unread_));
    return {};
}

io_result<void> connection::send(std::string_view bytes, moment deadline) noexcept
{
    iovec whole{const_cast<char *>(bytes.data()), bytes.size()};
    return send({&whole, bytes.empty() ? std::size_t{0} : std::size_t{1}}, deadline);
}

io_result<void> connection::send(std::span<iovec> parts, moment deadline) noexcept
{
    if (const int error = usable(); error != 0) {
        return unexpected(error);
    }
    return parts.empty() ? io_result<void>() : through_->send(parts, deadline);
}

io_result<void> connection::end_output() noexcept
{
    if (const int error = usable(); error != 0) {
        return unexpected(error);
    }
    through_->end_output();
    return {};
}

io_result<void> connection::give_back() noexcept
{
    if (const int error = usable(); error != 0) {
        return unexpected(error);
    }
    if (leave_flow(at_end::given_back)) {
        go_back();
    }
    return {};
}

io_result<void> connection::close() noexcept
{
    if (const int error = usable(); error != 0) {
        return unexpected(error);
    }
    if (leave_flow(at_end::closed)) {
        end();
    } else {
        through_->end_output();
    }
    return {};
}

io_result<void> connection::detach() noexcept
{
    if (const int error = usable(); error != 0) {
        return unexpected(error);
    }
    if (used_by_.exchange(&any_flow, std::memory_order_relaxed) != &any_flow) {
        running_flow->owned().remove(*this, *running_flow);
    }
    return {};
}

io_result<void> connection::attach() noexcept
{
    const void *detached = &any_flow;
    if (!used_by_.compare_exchange_strong(detached, nullptr, std::memory_order_acquire)) {
        return unexpected(EBADF);
    }
    use_by_caller();
    return {};
}

// To its source, where it is of use there.
void connection::go_back() noexcept
{
    if (source_ == nullptr || ended_) {
        return end();
    }
    const std::shared_ptr<connections> source = source_; // it may close this
    source->take_back(*this);
}

void connection::end() noexcept
{
    if (source_ != nullptr) {
        source_->forget(*this);
    }
    end_unlinked();
}

// Its source does not know it any more.
void connection::end_unlinked() noexcept
{
    through_.reset();
    seat_ = {};
    std::vector<std::byte>().swap(unread_);
    read_of_unread_ = 0;
    const std::shared_ptr<connections> last_share = std::move(source_);
    closed_connections.give_back(*this);
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
            told->use_by_caller();
            return told;
        }
        if (connection *const fresh = add(*std::move(came))) {
            // One that has asked already is served before the next is accepted: that one others can have.
            if (first_given_ == first_given::at_once || fresh->through_->has_input()) {
                fresh->use_by_caller();
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
    connection *const fresh = connection::open(std::move(somebody), shared_from_this());
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
    const bool soon = unused.read_of_unread_ != unused.unread_.size();
    if (!soon) {
        // An idle connection keeps no memory for what it has had.
        std::vector<std::byte>().swap(unused.unread_);
        unused.read_of_unread_ = 0;
    }
    keep(unused, soon);
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
        idle.end();
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
            longest.end_unlinked();
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
                idle.end_unlinked();
            }
        }
    }
    // Nobody will be given those that were told. Who has not been accepted waits for the next server.
    while (void *const owner = arrivals_->next_ready()) {
        static_cast<connection *>(owner)->end();
    }
}

io_result<connection *> connect(const address &to, moment deadline) noexcept
{
    io_result<std::unique_ptr<stream>> connected = running_io().connect(to, deadline);
    if (!connected.has_value()) {
        return unexpected(connected.error());
    }
    connection *const made = connection::open({*std::move(connected), to}, nullptr);
    if (made == nullptr) {
        return unexpected(ENOMEM);
    }
    made->use_by_caller();
    return made;
}

} // namespace flux
