#include "flux/io/connections.hpp"

#include "flux/io/park.hpp"
#include "flux/log.hpp"
#include "flux/reading.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>

namespace flux {
namespace {

/// Within the shortest limit each connection is looked at so often.
constexpr int looks_in_limit = 4;

/// The time between two looks. Where nothing is limited, one that is of no account.
moment::duration period_of(silence_limits limits) noexcept
{
    moment::duration shortest = moment::duration::max();
    for (const std::chrono::milliseconds each : {limits.idle, limits.first_byte, limits.message}) {
        shortest = each.count() == 0 ? shortest : std::min<moment::duration>(shortest, each);
    }
    return (shortest != moment::duration::max() ? shortest : std::chrono::minutes(1)) / looks_in_limit;
}

/// How many periods there are in the limit.
unsigned looks_in(std::chrono::milliseconds limit, moment::duration period) noexcept
{
    constexpr unsigned most = std::numeric_limits<unsigned>::max();
    return limit.count() == 0 ? most : static_cast<unsigned>(std::min<moment::rep>(limit / period, most));
}

/// Where there is always somebody who has come, the time is asked for when so many have.
constexpr unsigned asked_after = 256;

/// So many requests of one connection that came together are served before those of others: their answers go out
/// together, and what they use is at hand.
constexpr unsigned most_in_a_row = 32;

/// How often it is looked whether there is memory again.
constexpr std::chrono::milliseconds rest_step{5};

/// So long a connection leaves.
constexpr std::chrono::seconds leaving_time{2};

/// Whether the calling flow, a source, has no time left: each wait of it would end at once.
bool is_out_of_time(moment now) noexcept
{
    return running_flow != nullptr && running_flow->deadline() <= now;
}

/// While it exists the peers that come belong together.
class gathering
{
  public:
    explicit gathering(arrivals &of) noexcept : of_(of) { of_.gather(true); }
    gathering(const gathering &) = delete;
    gathering &operator=(const gathering &) = delete;
    ~gathering() { of_.gather(false); }

  private:
    arrivals &of_;
};

} // namespace

connections::connections(io &through, listener &from, first_given first, silence_limits limits, stream_layer *layer)
    : arrivals_(through.make_arrivals()), first_given_(first), look_period_(period_of(limits)),
      idle_looks_(looks_in(limits.idle, look_period_)), fresh_looks_(looks_in(limits.first_byte, look_period_)),
      message_limit_(limits.message), layer_(layer), through_(through), on_loop_(through.is_of_one_thread()),
      at_(from.local())
{
    if (const io_result<void> watched = arrivals_->watch(from); !watched.has_value()) {
        throw std::system_error(watched.error(), std::generic_category(), "listener");
    }
}

connections::connections(io &through, silence_limits limits)
    : arrivals_(through.make_arrivals()), first_given_(first_given::with_input), look_period_(period_of(limits)),
      idle_looks_(looks_in(limits.idle, look_period_)), fresh_looks_(looks_in(limits.first_byte, look_period_)),
      message_limit_(limits.message), layer_(nullptr), through_(through), on_loop_(through.is_of_one_thread()),
      look_at_(through.now() + look_period_), adopts_(true)
{
    assert(on_loop_);
    close_entrance();
}

connections::~connections()
{
    // Each connection owns a share of this, so there is none.
    assert(all_.empty());
}

io_result<connection *> connections::next() noexcept
{
    while (true) {
        const io_result<connection *> ready = next_with_input(false);
        if (!ready.has_value() || layer_ == nullptr || first_given_ == first_given::at_once || has_bytes(**ready)) {
            if (ready.has_value()) {
                served(**ready);
            }
            return ready;
        }
    }
}

io_result<void> connections::next_group(std::size_t size, std::vector<connection *> &group)
{
    group.reserve(group.size() + size);
    const gathering own(*arrivals_);
    while (size != 0) {
        ends_with_entrance_ = !group.empty();
        const bool is_closed = ends_with_entrance_ && !accepts_;
        const io_result<connection *> came = is_closed ? unexpected(end_of_input) : next();
        ends_with_entrance_ = false;
        if (!came.has_value()) {
            if (came.error() == end_of_input && on_loop_) {
                pass_on_group(group);
            }
            return unexpected(came.error());
        }
        group.push_back(*came);
        --size;
    }
    return {};
}

io_result<connection *> connections::next(message_parse &into, last_words *told, other_protocol *other,
                                          first_look *first) noexcept
{
    told_ = told;
    other_ = other;
    // `first` looks only at those who have sent something.
    const bool receives = first == nullptr;
    // What came together with the last message is most often messages, too.
    if (asks_more_ != nullptr && first == nullptr && asks_more_->has_only_unread()) {
        connection &same = *std::exchange(asks_more_, nullptr);
        same.use_by_caller();
        is_carried_ = false;
        if (is_whole(same, into, same.begin_unread(into), false)) {
            return &same;
        }
        if (is_carried_) {
            carry(same);
            return nullptr;
        }
    }
    while (true) {
        const io_result<connection *> ready = next_with_input(receives);
        if (!ready.has_value()) {
            return ready;
        }
        connection &of = **ready;
        if (first != nullptr && of.carries_ == nullptr) {
            first->look(of);
        }
        is_carried_ = of.carries_ != nullptr && of.carries_->receives();
        if (!is_carried_ && has_whole(of, into)) {
            return ready;
        }
        if (is_carried_) {
            carry(of);
            return nullptr;
        }
    }
}

// The caller owns it. One that has just come may have none where the caller receives from it next, without waiting.
io_result<connection *> connections::next_with_input(bool receives) noexcept
{
    while (true) {
        // Whatever the source has waited for since it looked last, a flow may have given one back meanwhile.
        if (connection *const same = std::exchange(asks_more_, nullptr)) {
            same->use_by_caller();
            return same;
        }
        if (server_io::current()->memory.is_over()) [[unlikely]] {
            if (const int error = rest(); error != 0) {
                return unexpected(error);
            }
            continue;
        }
        in_a_row_ = 1;
        waits_ = true;
        io_result<arrivals::arrival> came = arrivals_->next(look_at_);
        waits_ = false;
        if (!came.has_value()) {
            const moment now = through_.now();
            if (came.error() != ETIMEDOUT || is_out_of_time(now)) {
                return unexpected(came.error());
            }
            look_at_all(now);
            continue;
        }
        if (++came_ == asked_after) {
            came_ = 0;
            look_at_all(through_.now());
        }
        if (auto *const ready = static_cast<connection *>((*came).owner)) {
            if (ready->is_leaving_) [[unlikely]] {
                pass_over(*ready);
                continue;
            }
            ready->use_by_caller();
            return ready;
        }
        if ((*came).somebody == nullptr) {
            close_entrance();
            if (ends_with_entrance_) {
                return unexpected(end_of_input);
            }
            continue;
        }
        if (connection *const fresh = add(std::move(*(*came).somebody))) {
            // One that has asked already is served before the next is accepted: that one others can have.
            stream &by = *fresh->through_;
            const bool is_asked_next = receives && by.looks_by_receiving();
            if (first_given_ == first_given::at_once || is_asked_next || by.has_input()) {
                fresh->use_by_caller();
                return fresh;
            }
            await_request(*fresh);
            keep(*fresh, false);
        }
    }
}

// Nothing is taken in while the server has more memory than it may have; who is late meanwhile is closed, as ever.
// Gives the error where the wait was ended.
int connections::rest() noexcept
{
    log_rarely("nothing is read, as there is more memory in use than there may be");
    while (server_io::current()->memory.is_over()) {
        park resting(*running_flow, park_reason::sleep);
        const park_end how = resting.wait(through_.now() + rest_step);
        const moment now = through_.now();
        if (how != park_end::timed_out || is_out_of_time(now)) {
            return error_of(how);
        }
        look_at_all(now);
    }
    return 0;
}

// Whether it has something for a flow, as what has come may be of the layer alone. Else it is idle again, or closed.
bool connections::has_bytes(connection &of) noexcept
{
    const io_result<std::span<const std::byte>> there = of.look_now(moment::min());
    if (there.has_value()) {
        of.ended_ = false; // to be found again by who receives
        return (*there).empty() || of.has_unread() || of.take(*there, 0).has_value();
    }
    if (there.error() == ETIMEDOUT) {
        reclaim(of);
        await_request(of);
        keep(of, false);
        return false;
    }
    served(of);
    running_flow->count_failure(there.error());
    of.close_softly();
    return false;
}

// Whether the caller has it and the message; else it is idle again, or closed, or carried by something else.
bool connections::has_whole(connection &of, message_parse &into) noexcept
{
    const bool late = is_late(of, through_.last_look());
    const io_result<connection::progress> come =
        late ? io_result<connection::progress>(unexpected(ETIMEDOUT)) : of.advance(into, moment::min());
    return is_whole(of, into, come, late);
}

// The same, where it has come so far.
bool connections::is_whole(connection &of, message_parse &into, io_result<connection::progress> come,
                           bool late) noexcept
{
    if (come.has_value() && *come == connection::progress::whole) [[likely]] {
        of.message_begun_ = never;
        served(of);
        return true;
    }
    // Its input may have gone, or have been none.
    const bool had_nothing = !late && !come.has_value() && come.error() == ETIMEDOUT;
    if (come.has_value() || had_nothing) {
        reclaim(of);
        await_request(of);
        keep(of, come.has_value() && *come == connection::progress::unfinished_so_far);
        return false;
    }
    served(of);
    if (of.carries_ != nullptr) {
        end_carried(of, come.error(), into);
        return false;
    }
    if (come.error() == EBADMSG && speaks_other(of, into)) {
        return false;
    }
    if (!refuse(of, come.error(), into)) {
        reclaim(of);
        of.end();
    }
    return false;
}

// One on which others send. Where its peer has ended what it sends, they may go on.
void connections::end_carried(connection &ending, int error, const message_parse &wanted) noexcept
{
    const bool has_ended = error == end_of_input || error == ENODATA;
    if (!has_ended) {
        running_flow->count_failure(error);
    }
    if (error == EBADMSG) {
        log_wrong_message(ending.peer(), wanted);
    }
    reclaim(ending);
    const std::shared_ptr<multiplexer> carries = ending.carries_; // which may end it
    if (!has_ended) {
        carries->failed(error, wanted);
    }
    ending.belongs_to_any();
    if (has_ended ? carries->input_ended() : carries->leave(false)) {
        ending.belongs_to_none();
        ending.end();
    }
}

// Its first bytes are no message: whether they begin the other protocol, which carries it from now on.
bool connections::speaks_other(connection &on, const message_parse &wanted) noexcept
{
    if (other_ == nullptr) {
        return false;
    }
    try {
        on.carries_ = other_->begin(on, *on.through_, wanted.bytes.view());
    } catch (const std::bad_alloc &) {
        return false;
    }
    is_carried_ = on.carries_ != nullptr;
    if (is_carried_) {
        on.read_of_unread_ = on.unread_.size();
    }
    return is_carried_;
}

// Something has come there; the caller owns it.
void connections::carry(connection &on) noexcept
{
    const bool late = is_late(on, through_.last_look());
    const multiplexer::state now = late ? multiplexer::state::ended : on.carries_->receive();
    reclaim(on);
    if (now == multiplexer::state::ended) {
        if (leaves(on, false)) {
            // Its peer is to receive why.
            on.use_by_caller();
            on.carries_.reset();
            on.close_softly();
        }
        return;
    }
    on.carries_unfinished_ = now == multiplexer::state::unfinished;
    keep(on, false);
}

// Of a connection that the source has done with, and that is not watched any more: whether it can be ended. Else any
// flow can attach it, and the last that uses it ends it.
bool connections::leaves(connection &ending, bool stops) noexcept
{
    if (ending.carries_ == nullptr) {
        return true;
    }
    const std::shared_ptr<multiplexer> carries = ending.carries_; // which may end it
    ending.belongs_to_any();
    if (carries->leave(stops)) {
        ending.belongs_to_none();
        return true;
    }
    return false;
}

bool connections::is_late(const connection &on, moment now) const noexcept
{
    if (on.is_leaving_) [[unlikely]] {
        return now - on.message_begun_ >= leaving_time;
    }
    return message_limit_.count() != 0 && on.message_begun_ != never && now - on.message_begun_ >= message_limit_;
}

// A client that sent what it should not, or what there is no memory for. Whether it leaves; else it is closed next.
bool connections::refuse(connection &bad, int error, const message_parse &wanted) noexcept
{
    // Many clients end TLS without saying so (RFC 9112, 9.8): between messages nothing is lost.
    const bool is_silent_end = error == ECONNRESET && bad.unfinished_ == nullptr && bad.through_->is_secure();
    if (error == end_of_input || is_silent_end) {
        return false;
    }
    running_flow->count_failure(error);
    if (error == EPROTO) {
        return bad.close_softly().has_value(); // the layer has told it why
    }
    if (error == EBADMSG) {
        log_wrong_message(bad.peer(), wanted);
    }
    if (told_ == nullptr || (error != EBADMSG && error != ETIMEDOUT && error != ENOMEM)) {
        return false;
    }
    return bad.close_softly(told_->to(bad, error, wanted)).has_value();
}

// One that leaves has sent something, or its end.
void connections::pass_over(connection &leaving) noexcept
{
    if (!is_late(leaving, through_.last_look()) && leaving.passes_over_input()) {
        return keep(leaving, false);
    }
    leaving.end();
}

std::unique_lock<std::mutex> connections::alone_here() noexcept
{
    return on_loop_ ? std::unique_lock(lock_, std::defer_lock) : std::unique_lock(lock_);
}

// Its client has not asked, or not to the end: the server does not end before it is served, if that is soon.
void connections::await_request(connection &of) noexcept
{
    fresh_ += of.fresh_ ? 0 : 1;
    of.fresh_ = true;
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
    if (on_loop_) {
        pass_on_idle();
    }
    if (fresh_ == 0) {
        entrance_.close();
    }
}

// Whether another server could go on with one of a loop: it is between two messages, and nothing is known of it here
// but its peer.
bool connections::may_pass_on(const connection &idle) const noexcept
{
    return at_ && layer_ == nullptr && entrances_->passes_on() && idle.carries_ == nullptr &&
           idle.feed_ == nullptr && idle.unfinished_ == nullptr && !idle.has_unread() && !idle.is_leaving_ &&
           idle.states_.are_of_one_exchange();
}

// Whether another server goes on with it, which may. It is to be ended then.
bool connections::pass_on(connection &idle) noexcept
{
    descriptor socket(idle.through_->copy_idle());
    return socket.get() >= 0 && entrances_->pass_on(*at_, socket);
}

// Of those that nobody has.
void connections::pass_on_idle() noexcept
{
    for (connection *each = all_.first(); each != nullptr;) {
        connection &idle = *std::exchange(each, intrusive_list<connection>::next(*each));
        if (!may_pass_on(idle) || !arrivals_->forget(idle.through_->wire())) {
            continue;
        }
        if (pass_on(idle)) {
            served(idle);
            all_.remove(idle);
            idle.end_unlinked();
        } else {
            arrivals_->watch(idle.through_->wire(), &idle, false);
        }
    }
}

// Nobody new comes any more, so these wait in vain here: nothing was read of them, and they come to the next server as
// if they had not been here.
void connections::pass_on_group(std::vector<connection *> &group) noexcept
{
    std::erase_if(group, [this](connection *each) {
        const bool has_gone = may_pass_on(*each) && pass_on(*each);
        if (has_gone) {
            each->close();
        }
        return has_gone;
    });
}

// Null where there is no memory: the peer is sent away.
connection *connections::add(arrivals::newcomer somebody) noexcept
{
    if (layer_ != nullptr) {
        somebody.accepted = layer_->lay_over(std::move(somebody.accepted));
        if (somebody.accepted == nullptr) {
            return nullptr;
        }
    }
    connection *const fresh = connection::open(std::move(somebody), shared_from_this());
    if (fresh != nullptr) {
        const moment now = through_.now();
        const auto alone = alone_here();
        append(*fresh, now);
        look_at_ = all_.first()->look_at_;
    }
    return fresh;
}

void connections::adopt(connection &made) noexcept
{
    made.home_ = shared_from_this();
    append(made, through_.now());
}

void connections::take_back(connection &unused) noexcept
{
    if (unused.is_leaving_) [[unlikely]] {
        unused.incoming_.reset();
        unused.unfinished_.reset();
        unused.read_of_unread_ = unused.unread_.size();
    }
    const bool soon = unused.has_unread();
    const bool by_its_source = on_loop_ && !waits_; // which goes on behind this flow
    if (soon && by_its_source && asks_more_ == nullptr && in_a_row_ < most_in_a_row) {
        ++in_a_row_;
        asks_more_ = &unused;
        return;
    }
    if (unused.unread_.capacity() != 0 && !soon) {
        // An idle connection keeps no memory for what it has had.
        std::vector<std::byte>().swap(unused.unread_);
        unused.read_of_unread_ = 0;
    }
    keep(unused, soon);
}

void connections::keep(connection &idle, bool soon) noexcept
{
    if (on_loop_ && !accepts_ && may_pass_on(idle) && pass_on(idle)) {
        served(idle);
        return idle.end();
    }
    bool kept = false;
    {
        const auto alone = alone_here();
        const stream::held_input held = idle.through_->held();
        const bool is_used =
            idle.carries_ == nullptr || !idle.carries_->receives() || idle.carries_->is_in_use();
        if (held != stream::held_input::part && is_used) {
            idle.quiet_looks_ = 0; // a handshake that does not end is as silent as none, and so is talk of nothing
        }
        soon = soon || held == stream::held_input::bytes;
        const bool has_begun = idle.unfinished_ != nullptr || idle.carries_unfinished_;
        if (!has_begun && held != stream::held_input::part && !idle.is_leaving_) {
            idle.message_begun_ = never;
        } else if (idle.message_begun_ == never) {
            idle.message_begun_ = through_.last_look();
        }
        kept = !ended_ && arrivals_->watch(idle.through_->wire(), &idle, soon).has_value();
    }
    if (!kept) {
        served(idle);
        if (leaves(idle, true)) {
            idle.end();
        }
    }
}

void connections::look_at_all(moment now) noexcept
{
    const auto alone = alone_here();
    while (!all_.empty() && all_.first()->look_at_ <= now) {
        connection &longest = *all_.pop_front();
        const unsigned most_looks = longest.fresh_ ? fresh_looks_ : idle_looks_;
        const bool late = is_late(longest, now);
        if (longest.carries_ != nullptr && longest.carries_->is_in_use()) {
            longest.quiet_looks_ = 0;
        }
        // Only one that nobody has, and that has not been notified, can be forgotten.
        if ((late || longest.quiet_looks_ >= most_looks) && arrivals_->forget(longest.through_->wire())) {
            if (late && !longest.is_leaving_) {
                tell_late(longest);
            }
            served(longest);
            if (leaves(longest, !late)) {
                longest.end_unlinked();
            } else {
                append(longest, now);
            }
        } else {
            longest.quiet_looks_ = std::min(longest.quiet_looks_ + 1, std::numeric_limits<unsigned>::max() - 1);
            append(longest, now);
        }
    }
    const moment none = adopts_ ? now + look_period_ : never;
    look_at_ = all_.empty() ? none : all_.first()->look_at_;
}

// Its message has not come in time; it is closed next.
void connections::tell_late(connection &late) noexcept
{
    running_flow->count_failure(ETIMEDOUT);
    if (told_ != nullptr && late.unfinished_ != nullptr) {
        late.through_->send_at_once(told_->to(late, ETIMEDOUT, late.unfinished_->parse()));
    }
}

void connections::append(connection &looked_at, moment now) noexcept
{
    looked_at.look_at_ = now + look_period_;
    all_.push_back(looked_at);
}

void connections::forget(connection &closing) noexcept
{
    const auto alone = alone_here();
    all_.remove(closing);
}

void connections::end() noexcept
{
    {
        const auto alone = alone_here();
        ended_ = true;
        for (connection *each = all_.first(); each != nullptr;) {
            connection &idle = *std::exchange(each, intrusive_list<connection>::next(*each));
            if (arrivals_->forget(idle.through_->wire()) && leaves(idle, true)) {
                all_.remove(idle);
                idle.end_unlinked();
            }
        }
    }
    if (connection *const unserved = std::exchange(asks_more_, nullptr)) {
        unserved->end();
    }
    // Nobody will be given those that were notified. Who has not been accepted waits for the next server.
    while (void *const owner = arrivals_->next_ready()) {
        if (leaves(*static_cast<connection *>(owner), true)) {
            static_cast<connection *>(owner)->end();
        }
    }
}

} // namespace flux
