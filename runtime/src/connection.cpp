#include "flux/connection.hpp"

#include "flux/error.hpp"
#include "flux/io/connections.hpp"
#include "flux/io/multiplexer.hpp"
#include "flux/io/received_stream.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <new>
#include <utility>

namespace flux {

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
        return closed_.pop_front();
    }

    void give_back(connection &closed) noexcept
    {
        const std::lock_guard alone(lock_);
        closed_.push_back(closed);
        ++count_;
    }

  private:
    static constexpr std::size_t least_closed = 64;

    std::mutex lock_;
    intrusive_list<connection> closed_;
    std::size_t count_ = 0;
};

namespace {

constinit connection_store closed_connections;

/// Its address stands for all flows.
constexpr char any_flow = 0;

/// Where each stream of a thread receives what is asked for in small pieces: one place, which the processor has at
/// hand, and large enough that a receive that does not fill it has taken all there was. What is not taken from it at
/// once is copied to its connection, so nothing is in it when a flow waits.
constexpr std::size_t landing_size = std::size_t{64} << 10;
alignas(64) constinit thread_local std::array<std::byte, landing_size> landing{};

/// Of streams that nobody has pulled so many bytes are passed over, if they come within this time, so that the
/// connection can be used again. Where it is to be closed, its peer is listened to so long, so that it receives what it
/// was sent before.
constexpr std::size_t most_passed_over = std::size_t{256} << 10;
constexpr std::size_t most_lingered_over = std::size_t{4} << 20;
constexpr std::chrono::seconds most_passing_time{1};

} // namespace

connection *connection::open(arrivals::newcomer peer, std::shared_ptr<connection_home> home) noexcept
{
    connection *const opened = closed_connections.take();
    if (opened != nullptr) {
        opened->through_ = std::move(peer.accepted);
        opened->home_ = std::move(home);
        opened->peer_ = peer.from;
        opened->seat_ = std::move(peer.seat);
        opened->accepted_ = opened->home_ != nullptr;
        opened->has_lost_input_ = false;
        opened->ended_ = false;
        opened->carries_unfinished_ = false;
        opened->is_leaving_ = false;
        opened->fresh_ = false;
        opened->quiet_looks_ = 0;
        opened->message_begun_ = never;
        opened->longest_wait_ = std::chrono::milliseconds(0);
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
    taken_by_ = running_flow;
    used_by_.store(&running_flow->root(), std::memory_order_relaxed);
    running_flow->own(*this);
}

void connection::belongs_to_any() noexcept
{
    used_by_.store(&any_flow, std::memory_order_release);
}

// Nobody uses it any more. False where that has to wait for the end of the flow, as another branch may be using it. One
// that the branch has made itself only its own branches can have known, and they have ended.
inline bool connection::leave_flow(at_end how) noexcept
{
    const void *const owner = used_by_.load(std::memory_order_relaxed);
    used_by_.store(nullptr, std::memory_order_relaxed);
    if (owner == &any_flow) {
        return true;
    }
    if (running_flow->parent() != nullptr && running_flow != taken_by_) {
        at_end_ = how;
        return false;
    }
    running_flow->disown(*this);
    return true;
}

bool connection::flow_has_ended() noexcept
{
    used_by_.store(nullptr, std::memory_order_relaxed);
    const at_end how = at_end_; // afterwards it may be another flow's
    how == at_end::given_back ? go_back() : end();
    return how == at_end::forgotten;
}

moment connection::end_of_longest_wait() const noexcept
{
    return running_io().now() + longest_wait_;
}

io_result<std::size_t> connection::receive(std::span<std::byte> into, moment deadline) noexcept
{
    const io_result<std::span<const std::byte>> there = look(deadline);
    if (!there.has_value()) {
        return unexpected(there.error());
    }
    const std::size_t count = std::min(into.size(), (*there).size());
    std::copy_n((*there).begin(), count, into.begin());
    const io_result<void> taken = take(*there, count);
    return taken.has_value() ? io_result<std::size_t>(count) : unexpected(taken.error());
}

// What is there and was not taken; where there is nothing, what comes next.
io_result<std::span<const std::byte>> connection::look_now(moment deadline) noexcept
{
    if (has_lost_input_) [[unlikely]] {
        return unexpected(ENOMEM);
    }
    if (unfinished_ != nullptr) [[unlikely]] {
        if (const io_result<void> kept = end_of_unfinished(); !kept.has_value()) {
            return unexpected(kept.error());
        }
    }
    if (has_unread()) {
        return std::span<const std::byte>(unread_).subspan(read_of_unread_);
    }
    const io_result<std::size_t> received = through_->receive(landing, bounded(deadline));
    if (!received.has_value()) {
        return unexpected(received.error());
    }
    ended_ = *received == 0;
    return std::span<const std::byte>(landing).first(*received);
}

io_result<void> connection::keep_unread(std::span<const std::byte> rest) noexcept
{
    try {
        unread_.assign(rest.begin(), rest.end());
        read_of_unread_ = 0;
        return {};
    } catch (const std::bad_alloc &) {
        has_lost_input_ = true;
        return unexpected(ENOMEM);
    }
}

// It is to be read otherwise: its bytes are unread again.
io_result<void> connection::end_of_unfinished() noexcept
{
    const std::unique_ptr<unfinished_input> last = std::move(unfinished_);
    return keep_unread(last->so_far());
}

io_result<void> connection::receive_message(message_parse &into, moment deadline) noexcept
{
    while (true) {
        const io_result<progress> come = advance(into, deadline);
        if (!come.has_value()) {
            return unexpected(come.error());
        }
        if (*come == progress::whole) {
            return {};
        }
    }
}

io_result<bool> connection::receive_unread(message_parse &into) noexcept
{
    if (const int error = usable(); error != 0) {
        return unexpected(error);
    }
    if (!has_unread() || has_lost_input_ || unfinished_ != nullptr || incoming_ != nullptr) {
        return false;
    }
    const io_result<progress> come = begin_unread(into);
    return come.has_value() ? io_result<bool>(*come == progress::whole) : unexpected(come.error());
}

io_result<connection::progress> connection::advance(message_parse &into, moment deadline) noexcept
{
    if (const int error = usable(); error != 0) {
        return unexpected(error);
    }
    if (incoming_ != nullptr && !pass_streams()) [[unlikely]] {
        return unexpected(EBUSY);
    }
    try {
        const bool continues = unfinished_ != nullptr && unfinished_->is_of(into.facts());
        return continues ? continue_message(into, deadline) : begin_message(into, deadline);
    } catch (const std::bad_alloc &) {
        return lose_input();
    }
}

// The same where nothing but unread bytes is to be looked at.
io_result<connection::progress> connection::begin_unread(message_parse &into) noexcept
{
    try {
        return begin_with(std::span<const std::byte>(unread_).subspan(read_of_unread_), into);
    } catch (const std::bad_alloc &) {
        return lose_input();
    }
}

// What was received is not to be had any more.
unexpected<int> connection::lose_input() noexcept
{
    has_lost_input_ = true;
    unfinished_.reset();
    return unexpected(ENOMEM);
}

// The bytes of a message that is whole, or whose streams are to come.
message_bytes connection::head_of(message_parse &whole, std::span<const std::byte> bytes)
{
    if (!whole.facts().has_streams || whole.ahead() == nullptr) [[likely]] {
        return message_bytes::copy_of(bytes);
    }
    incoming_ = std::make_shared<received_stream>(*this, whole, bytes);
    return message_bytes::with_stream(bytes, incoming_);
}

io_result<connection::progress> connection::begin_message(message_parse &into, moment deadline)
{
    const io_result<std::span<const std::byte>> there = look_now(deadline);
    if (!there.has_value()) {
        return unexpected(there.error());
    }
    if ((*there).empty()) {
        return unexpected(accepted_ ? end_of_input : ENODATA);
    }
    return begin_with(*there, into);
}

// A message of which these bytes are there, and perhaps more messages behind it.
io_result<connection::progress> connection::begin_with(std::span<const std::byte> there, message_parse &into)
{
    const std::string_view bytes(reinterpret_cast<const char *>(there.data()), there.size());
    switch (into.read(bytes, false)) {
    case message_parse::state::whole:
        into.bytes = head_of(into, there.first(into.size()));
        if (const io_result<void> taken = take(there, into.size()); !taken.has_value()) {
            return unexpected(taken.error());
        }
        return progress::whole;
    case message_parse::state::unfinished:
        break;
    case message_parse::state::wrong:
        into.bytes = message_bytes::copy_of(there);
        return unexpected(EBADMSG);
    case message_parse::state::no_memory:
        throw std::bad_alloc();
    }
    // Where there is no memory for one of these, the next message is read from its beginning nevertheless.
    std::unique_ptr<message_parse> kept = into.keep();
    unfinished_ = std::make_unique<unfinished_input>(std::move(kept), there);
    take(there, bytes.size());
    return bytes.size() < landing.size() ? progress::unfinished : progress::unfinished_so_far;
}

io_result<connection::progress> connection::continue_message(message_parse &into, moment deadline)
{
    const std::span<std::byte> own = unfinished_->room();
    const std::span<std::byte> room = own.empty() ? std::span<std::byte>(landing) : own;
    const io_result<std::size_t> received = through_->receive(room, bounded(deadline));
    if (!received.has_value()) {
        return unexpected(received.error());
    }
    if (own.empty()) {
        unfinished_->append(room.first(*received));
    } else {
        unfinished_->received(*received);
    }
    ended_ = *received == 0;
    const message_parse::state come = unfinished_->read(ended_);
    if (come == message_parse::state::no_memory) {
        throw std::bad_alloc();
    }
    if (ended_ && come != message_parse::state::whole) {
        return unexpected(ECONNRESET); // what there was before the end was right so far
    }
    if (come == message_parse::state::unfinished) {
        return *received < room.size() ? progress::unfinished : progress::unfinished_so_far;
    }
    const std::unique_ptr<unfinished_input> last = std::move(unfinished_);
    if (come == message_parse::state::wrong) {
        last->explain_to(into);
        into.bytes = message_bytes::copy_of(last->so_far());
        return unexpected(EBADMSG);
    }
    if (const io_result<void> kept = keep_unread(last->behind()); !kept.has_value()) {
        return unexpected(kept.error());
    }
    last->give_to(into);
    if (into.ahead() != nullptr) {
        into.bytes = head_of(into, std::as_bytes(std::span(into.bytes.view())));
    }
    return progress::whole;
}

io_result<void> connection::put_back(std::span<const std::byte> unused)
{
    if (const int error = usable(); error != 0) {
        return unexpected(error);
    }
    if (unfinished_ != nullptr) {
        if (const io_result<void> kept = end_of_unfinished(); !kept.has_value()) {
            return kept;
        }
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
    if (feed_ != nullptr) [[unlikely]] {
        return feed_->send(parts, bounded(deadline));
    }
    // Where the peer has asked more already, the answers go out together. Another branch may receive meanwhile, but not
    // on another thread where anything is sent later.
    if (parts.empty() || (through_->sends_later() && has_unread() && through_->send_later(parts))) {
        return {};
    }
    return through_->send(parts, bounded(deadline));
}

io_result<void> connection::send_soon(std::string_view bytes, moment deadline) noexcept
{
    if (const int error = usable(); error != 0) {
        return unexpected(error);
    }
    iovec whole{const_cast<char *>(bytes.data()), bytes.size()};
    const std::span<iovec> parts(&whole, 1);
    if (feed_ != nullptr) {
        return feed_->send(parts, bounded(deadline));
    }
    return through_->send_later(parts) ? io_result<void>() : through_->send(parts, bounded(deadline));
}

std::shared_ptr<feed> connection::open_feed(std::size_t most)
{
    if (usable() != 0) {
        return nullptr;
    }
    if (feed_ == nullptr) {
        feed_ = std::make_shared<feed>(feeds::of_running_io(), *through_, most);
    }
    return feed_;
}

io_result<void> connection::send_file(std::string_view before, const file_part &part, moment deadline) noexcept
{
    if (const int error = usable(); error != 0) {
        return unexpected(error);
    }
    return through_->send_file(before, part, bounded(deadline));
}

io_result<void> connection::flush(moment deadline) noexcept
{
    if (const int error = usable(); error != 0) {
        return unexpected(error);
    }
    return through_->flush(bounded(deadline));
}

io_result<void> connection::end_output() noexcept
{
    if (const int error = usable(); error != 0) {
        return unexpected(error);
    }
    through_->end_output();
    return {};
}

io_result<void> connection::cut() noexcept
{
    if (const int error = usable(); error != 0) {
        return unexpected(error);
    }
    through_->cut();
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

io_result<void> connection::give_back_behind_streams() noexcept
{
    if (const int error = usable(); error != 0) {
        return unexpected(error);
    }
    if (incoming_ == nullptr) {
        return give_back();
    }
    at_end_ = at_end::given_back;
    incoming_->give_back_at_end();
    return {};
}

// Whether what is left of them has been gone through, as it was little.
bool connection::pass_streams() noexcept
{
    const std::shared_ptr<received_stream> rest = incoming_;
    const moment until = running_io().now() + most_passing_time;
    std::array<std::byte, std::size_t{4} << 10> passed_over;
    std::size_t size = 0;
    while (size < most_passed_over && !rest->has_ended()) {
        const io_result<std::size_t> count = rest->pass(passed_over, until);
        if (!count.has_value() || *count == 0) {
            return count.has_value();
        }
        size += *count;
    }
    return rest->has_ended();
}

// If it were closed with input that nobody has received, the peer could lose what it was sent last.
void connection::linger() noexcept
{
    const moment until = running_io().now() + most_passing_time;
    through_->flush(until);
    through_->end_output();
    for (std::size_t size = 0; size < most_lingered_over;) {
        const io_result<std::size_t> count = through_->receive(landing, until);
        if (!count.has_value() || *count == 0) {
            return;
        }
        size += *count;
    }
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

io_result<void> connection::close_softly(std::string_view last) noexcept
{
    if (const int error = usable(); error != 0) {
        return unexpected(error);
    }
    is_leaving_ = true;
    message_begun_ = never;
    if (feed_ != nullptr) {
        feed_->send_at_once();
    }
    through_->send_at_once(last);
    through_->end_output();
    if (leave_flow(at_end::given_back)) {
        go_back();
    }
    return {};
}

// Of one that leaves: whether more may come.
bool connection::passes_over_input() noexcept
{
    const io_result<std::size_t> count = through_->receive(landing, moment::min());
    return count.has_value() ? *count != 0 : count.error() == ETIMEDOUT;
}

stream *connection::send_through(std::shared_ptr<multiplexer> by) noexcept
{
    if (usable() != 0) {
        return nullptr;
    }
    assert(carries_ == nullptr && !by->receives());
    carries_ = std::move(by);
    return through_.get();
}

io_result<void> connection::set_home(std::shared_ptr<connection_home> home) noexcept
{
    if (const int error = usable(); error != 0) {
        return unexpected(error);
    }
    assert(home_ == nullptr);
    home_ = std::move(home);
    return {};
}

io_result<void> connection::detach() noexcept
{
    if (const int error = usable(); error != 0) {
        return unexpected(error);
    }
    if (used_by_.load(std::memory_order_relaxed) != &any_flow) {
        running_flow->disown(*this);
        // Only then, as another flow may attach it at once.
        used_by_.store(&any_flow, std::memory_order_release);
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

// To its home, where it is of use there.
inline void connection::go_back() noexcept
{
    if (is_leaving_) [[unlikely]] {
        return home_ == nullptr ? end() : home_->take_back(*this);
    }
    if (incoming_ != nullptr && !pass_streams()) [[unlikely]] {
        linger();
        return end();
    }
    const bool may_be_idle = has_unread() || through_->before_idle(bounded(never)).has_value();
    if (home_ == nullptr || ended_ || !may_be_idle) {
        return end();
    }
    home_->take_back(*this);
}

void connection::end() noexcept
{
    if (carries_ != nullptr && !carries_->receives() && !carries_->leave(false)) {
        return belongs_to_any(); // the last flow that sends on it ends it
    }
    if (feed_ != nullptr) {
        feed_->send_at_once();
    }
    // What was sent last goes out first; a peer that takes none of it any more has ended the connection itself.
    through_->flush(bounded(never));
    if (home_ != nullptr) {
        home_->forget(*this);
    }
    end_unlinked();
}

// Its home does not know it any more.
void connection::end_unlinked() noexcept
{
    if (feed_ != nullptr) {
        std::exchange(feed_, nullptr)->end();
    }
    through_.reset();
    seat_ = {};
    states_.clear();
    unfinished_.reset();
    incoming_.reset();
    carries_.reset();
    std::vector<std::byte>().swap(unread_);
    read_of_unread_ = 0;
    const std::shared_ptr<connection_home> last_share = std::move(home_);
    closed_connections.give_back(*this);
}

void connection_home::lend(connection &own) noexcept
{
    own.use_by_caller();
}

void connection_home::reclaim(connection &own) noexcept
{
    own.leave_flow(connection::at_end::given_back);
}

bool connection_home::has_input(connection &own) noexcept
{
    return own.has_unread() || own.unfinished_ != nullptr || own.through_->has_input();
}

void connection_home::close(connection &own) noexcept
{
    own.end_unlinked();
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
