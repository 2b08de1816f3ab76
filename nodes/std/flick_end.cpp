#include "flick_end.h"

#include "flick_process.h"
#include "flick_shared.h"

#include "flux/error.hpp"
#include "flux/flow/flow.hpp"
#include "flux/message_stream.hpp"
#include "flux/send_message.hpp"

#include <algorithm>
#include <cerrno>
#include <new>

namespace flick {

namespace {

/// The limit of requests that an end stores for a retry. If more are pending, the end retries none.
constexpr std::size_t most_asked = 256;

} // namespace

end::~end()
{
    if (of_ != nullptr) {
        of_->forget(*this);
    }
    if (servers_ != nullptr) {
        *all_open_ -= own_open_;
        if (!is_shared()) {
            servers_->remove(*this, server_);
            servers_->free_place(server_);
        }
    }
    if (clients_ != nullptr) {
        --*clients_;
    }
}

void end::use(std::shared_ptr<backends> servers, std::size_t server) noexcept
{
    const binding &to = servers->bound_to();
    const auto &own = of_->of().at(channel_);
    is_ordered_ = own.is_counted && own.is_ordered;
    const bool is_told = to.keep != 0 || to.retries != 0 || to.eject_after != 0 || servers->counts_requests();
    counts_ = own.is_counted && (is_told || is_ordered_);
    repeats_ = to.retries;
    all_open_ = &servers->open_at(server);
    servers_ = std::move(servers);
    server_ = server;
    servers_->add(*this, server);
    count_open();
}

void end::share(std::shared_ptr<shared_connection> on)
{
    coming_ = of_->coming(channel_, element_);
    on->add(shared_from_this());
    servers_ = on->servers();
    server_ = on->server();
    counts_ = true;
    is_ordered_ = of_->of().at(channel_).is_ordered;
    // The server may have ended the connection just now.
    repeats_ = std::max<std::size_t>(servers_->bound_to().retries, on->was_asked() ? 1 : 0);
    all_open_ = &servers_->open_at(server_);
    shared_ = std::move(on);
}

// Counts the pending requests if the end knows them. Otherwise the connection counts as one request.
void end::count_open() noexcept
{
    const std::size_t open = counts_ ? awaited_ : 1;
    if (all_open_ != nullptr) {
        *all_open_ += open - own_open_;
        own_open_ = open;
    }
}

void end::begin_again(std::shared_ptr<run> of, std::size_t element)
{
    of_ = std::move(of);
    element_ = element;
    is_finished_ = false;
    // The server may have ended the connection just now.
    repeats_ = std::max<std::size_t>(servers_->bound_to().retries, 1);
    was_used_ = true;
}

void end::begin(flux::connection &on)
{
    on_ = &on;
    through_ = on.send_through(shared_from_this());
    accepted_ = on.accepted();
}

std::string end::peer() const
{
    return on_ == nullptr ? std::string() : on_->peer().text();
}

void end::begin_alone(flux::connection &on)
{
    begin(on);
    is_left_ = true;
    on.detach();
    counts_ = false; // no flow reads the input
    never_counts_ = true;
    is_ordered_ = false;
    count_open();
}

void end::stop_counting() noexcept
{
    counts_ = false;
    never_counts_ = true;
    asks_.clear();
    wake_all(switch_waits_);
    count_open();
    if (std::exchange(is_ordered_, false)) {
        of_->give_up_order();
    }
}

// Notes a request that is about to be sent, and its pending replies. Returns false if memory is short.
bool end::note(const request &what) noexcept
{
    const std::size_t replies = what.replies > 0 ? static_cast<std::size_t>(what.replies) : 0;
    if (what.replies < 0) {
        stop_counting();
    } else if (!never_counts_ && asks_.is_new() && flux::request_of(what.what).has_pairs) {
        counts_ = of_->of().at(channel_).is_counted; // a reader of a reply needs its request
    }
    const bool has_order = is_ordered_ && counts_ && replies != 0;
    if (!note_asks(what) || (has_order && !note_answers(what, replies))) {
        return false;
    }
    awaited_ += replies;
    count_open();
    servers_->asked(server_);
    const bool may_repeat = what.may_repeat && what.replies == 1 && what.what.stream() == nullptr;
    if (repeats_ != 0 && counts_ && may_repeat && asked_.size() < most_asked) {
        try {
            asked_.push_back(what);
            return true;
        } catch (const std::bad_alloc &) {
            // Without memory, the end retries no request.
        }
    }
    repeats_ = 0;
    asked_.clear();
    return true;
}

// Notes the `asks` that the replies depend on. Returns false if memory is short.
bool end::note_asks(const request &what) noexcept
{
    if (is_shared() || !counts_) {
        return true; // the shared connection notes it, or the end does not count replies
    }
    try {
        asks_.note(static_cast<std::uint64_t>(std::max<std::int64_t>(what.replies, 0)),
                   flux::request_of(what.what).asks);
    } catch (const std::bad_alloc &) {
        return false;
    }
    expect_next();
    return true;
}

// Notes the replies in the order of the run. If memory is short it notes nothing: another end may send the request.
bool end::note_answers(const request &what, std::size_t replies) noexcept
{
    try {
        if (what.mark == nullptr) [[likely]] {
            of_->order().expect({channel_, element_}, replies, what.is_part);
            return true;
        }
        std::list<std::size_t> mark(1, awaited_ - marked_);
        of_->order().expect({channel_, element_}, replies, what.is_part);
        marks_.splice(marks_.end(), mark);
        marked_ = awaited_ + 1;
        return true;
    } catch (const std::bad_alloc &) {
        return false;
    }
}

// Notes all requests before it sends the first. If this connection ends too, the next one gets all of them.
void end::ask_all(std::vector<request> asked, std::size_t repeats) noexcept
{
    const std::shared_ptr<end> stays = shared_from_this();
    asked_ = std::move(asked);
    repeats_ = repeats;
    awaited_ = asked_.size();
    count_open();
    if (!std::all_of(asked_.begin(), asked_.end(), [&](const request &one) { return note_asks(one); })) {
        cut(); // the source notices this
    }
    unsent_ = asked_.size();
    of_->end_stuck_waits();
    is_asking_again_ = true;
    bool is_sent = true;
    while (is_sent && !is_broken_ && unsent_ != 0 && !of_->is_over()) {
        const request next = asked_[asked_.size() - unsent_];
        --unsent_;
        bool is_noted = false;
        is_sent = is_shared() ? !is_broken_ && shared_->send(*this, next, is_noted).has_value()
                              : in_turn([&] { return send_alone(next.what); }).has_value();
    }
    is_asking_again_ = false;
    if (is_shared() && !is_sent && !is_broken_) {
        // Otherwise the end would pair replies with the wrong requests.
        const std::shared_ptr<run> last = of_;
        leave_shared();
        last->lost(*this);
    }
}

void end::came(message_role as) noexcept
{
    if (accepted_) {
        may_switch_ = as == message_role::switch_request;
        ends_next_ = as == message_role::last_of_connection;
        asks_no_more_ = as == message_role::last_request;
        return;
    }
    as = role_of_next(as);
    is_last_ = as != message_role::interim;
    if (!is_last_) {
        repeats_ = 0; // the reply has begun
        return;
    }
    asks_.answered();
    expect_next();
    if (!counts_) {
        return;
    }
    carries_ = as == message_role::last_message && awaited_ == 1 && unsent_ == 0 ? carried::other : carries_;
    wake_all(switch_waits_);
    if (awaited_ == unsent_) {
        return stop_counting(); // no request has asked for this reply
    }
    count_answer();
    if (as == message_role::last_message) {
        return stop_counting();
    }
    ends_next_ = as == message_role::last_of_connection;
}

// While a flow is at work on the reply that ends the messages, the client may not have that reply yet.
int end::await_answers_of(const run &own) noexcept
{
    const auto is_awaited = [&] {
        const bool is_there = !is_broken_ && of_.get() == &own && !own.is_over();
        return is_there && ((counts_ && !asks_.is_all_answered()) || (carries_ == carried::other && is_at_work_));
    };
    int error = 0;
    while (error == 0 && is_awaited()) {
        error = wait_in(switch_waits_);
    }
    return error;
}

int end::await_order() noexcept
{
    const int error = is_ordered_ ? of_->order().await({channel_, element_}) : 0;
    return error == 0 && is_ordered_ && is_broken_ ? ECONNRESET : error;
}

bool end::is_of_part() const noexcept
{
    return is_ordered_ && is_last_ && of_->order().is_part({channel_, element_});
}

void end::passed_on() noexcept
{
    if (is_ordered_ && std::exchange(is_last_, false)) {
        of_->order().answered({channel_, element_});
        of_->pass_next_held();
    }
}

void end::end_work() noexcept
{
    is_at_work_ = false;
    wake_all(switch_waits_);
    // The flow still has the connection while streams of the message are to come.
    if (on_->usable() == 0) {
        stop_counting();
    }
    settle();
}

// Whether another run can use the connection: no reply is pending, and no other input has arrived.
bool end::can_be_kept() const noexcept
{
    return counts_ && servers_->bound_to().keep != 0 && awaited_ == 0 && !is_at_work_ && senders_ == 0 &&
           !on_->has_unread() && !ends_next_ && !has_input_ended_;
}

bool end::may_be_lent() const noexcept
{
    return !is_kept() && !is_finished_ && !is_broken_ && can_be_kept();
}

void end::lend() noexcept
{
    const std::shared_ptr<run> last = std::exchange(of_, nullptr);
    asked_.clear();
    last->parted(*this);
}

// An end that frees its place later, because it is finished or can be lent, does not wait for its client. But replies
// with an order may wait for requests that the run sends again.
bool end::is_stuck(const awaited_place &by, std::uint64_t search) const noexcept
{
    const bool goes_later = is_finished_ || (counts_ && servers_->bound_to().keep != 0);
    const bool awaits_order = is_ordered_ && (awaited_ != 0 || is_at_work_);
    if (is_kept() || is_broken_ || of_->is_over() || (goes_later && !awaits_order)) {
        return false;
    }
    const flux::intrusive_list<awaited_place> &all = of_->awaits();
    for (const awaited_place *each = all.first(); each != nullptr; each = all.next(*each)) {
        const bool holds_it_up = !goes_later || each->repeats;
        if (holds_it_up && (each == &by || each->at.is_stuck(each->server, by, search))) {
            return true;
        }
    }
    return false;
}

// If this run sends nothing more there, the end keeps its connection for another run or ends its output. Flows that
// wait for a connection get it earlier.
void end::settle() noexcept
{
    if (is_shared()) {
        return settle_shared();
    }
    if (servers_ != nullptr && servers_->is_awaited(server_) && may_be_lent()) {
        const std::shared_ptr<end> stays = shared_from_this();
        lend();
        if (!servers_->keep(stays)) {
            cut();
        }
        return;
    }
    if (!is_finished_ || senders_ != 0 || is_broken_) {
        return;
    }
    if (is_output_ended_) {
        return end_where_answered();
    }
    if (counts_ && servers_->bound_to().keep != 0) {
        if (is_at_work_ || (awaited_ != 0 && !of_->is_over())) {
            return;
        }
        if (can_be_kept()) {
            const std::shared_ptr<end> stays = shared_from_this();
            const std::shared_ptr<run> last = std::exchange(of_, nullptr);
            if (servers_->keep(stays)) {
                asked_.clear();
                return last->released(*this);
            }
            of_ = last;
        }
    }
    const std::shared_ptr<end> stays = counts_ ? shared_from_this() : nullptr;
    is_output_ended_ = true;
    end_output();
    stays != nullptr ? end_where_answered() : void();
}

// A server may keep its connection open after the end of its input. The run does not wait for the server's end.
void end::end_where_answered() noexcept
{
    if (counts_ && awaited_ == 0 && !is_at_work_ && !is_broken_ && of_ != nullptr) {
        of_->answered(*this);
    }
}

// Leaves the shared connection if this run sends nothing more there and no reply is pending.
void end::settle_shared() noexcept
{
    if (!is_finished_ || senders_ != 0 || is_broken_ || is_kept() || (awaited_ != 0 && !of_->is_over())) {
        return;
    }
    const std::shared_ptr<end> stays = shared_from_this();
    const std::shared_ptr<run> last = of_;
    leave_shared();
    last->released(*this);
}

void end::leave_shared() noexcept
{
    const std::shared_ptr<end> stays = shared_from_this();
    if (!is_broken_) {
        of_ = nullptr;
        shared_->remove(*this);
    }
}

int end::await_answers() noexcept
{
    int error = 0;
    while (error == 0 && (awaited_ != 0 || senders_ != 0) && !is_broken_) {
        error = coming_->await_change();
    }
    return error;
}

int end::await_room() noexcept
{
    int error = 0;
    while (error == 0 && !is_broken_ && !coming_->has_room(awaited_)) {
        error = coming_->await_change();
    }
    return error;
}

// Notes the reply to one pending request.
void end::count_answer() noexcept
{
    --awaited_;
    if (marked_ != 0) [[unlikely]] {
        --marked_;
        marks_.front() == 0 ? marks_.pop_front() : void(--marks_.front());
    }
    count_open();
    servers_->answered(server_);
    if (!asked_.empty()) {
        asked_.erase(asked_.begin());
    }
    if (awaited_ == 0) {
        repeats_ = servers_->bound_to().retries; // drops the extra retry of a kept connection
        asked_.clear();
    }
}

void end::answered(message_role as, std::size_t size) noexcept
{
    coming_->has_come(size);
    if (as == message_role::interim) {
        repeats_ = 0; // the reply has begun
        return;
    }
    count_answer();
    if (awaited_ == 0) {
        coming_->changed();
        settle_shared();
    }
}

// If no reply is pending, the run sends its next request on another connection.
void end::connection_ended(event what, const char *why) noexcept
{
    is_broken_ = true;
    coming_->changed();
    if (is_kept()) {
        return;
    }
    if (awaited_ == 0) {
        is_repeated_ = true;
        return of_->parted(*this);
    }
    const bool may = repeats_ != 0 && !servers_->has_stopped() && asked_.size() == awaited_;
    is_repeated_ = may && of_->ask_again(*this, std::move(asked_), repeats_);
    if (is_repeated_) {
        return;
    }
    try {
        of_->lost(*this, what, why);
    } catch (const std::bad_alloc &) {
        of_->lost(*this);
    }
}

// Whether the run may continue after the end of the server's output.
bool end::goes_on_behind_end() const noexcept
{
    return counts_ && (awaited_ != 0 || (servers_->bound_to().retries != 0 && !ends_next_ && !is_finished_));
}

// Returns whether the run continues after its connection has ended. Another connection then gets the pending requests
// again. If no reply is pending, another connection gets the next request.
bool end::goes_on() noexcept
{
    if (servers_ != nullptr && awaited_ != 0) {
        servers_->failed(server_);
    }
    if (awaited_ == 0 && goes_on_behind_end() && !is_at_work_ && !is_finished_) {
        of_->parted(*this);
        is_repeated_ = true;
        return true;
    }
    const bool may = counts_ && repeats_ != 0 && !is_at_work_ && awaited_ != 0 && asked_.size() == awaited_;
    is_repeated_ = may && of_->ask_again(*this, std::move(asked_), repeats_);
    return is_repeated_;
}

// Calls `send` as soon as no other flow sends.
template <class Send>
flux::io_result<void> end::in_turn(Send send) noexcept
{
    if (is_broken_ || is_finished_) {
        return flux::unexpected(is_broken_ ? ECONNRESET : EPIPE);
    }
    const std::shared_ptr<end> stays = shared_from_this();
    ++senders_;
    was_used_ = true;
    flux::io_result<void> sent = turns_.await();
    if (sent.has_value()) {
        sent = is_broken_ ? flux::io_result<void>(flux::unexpected(ECONNRESET)) : send();
        if (!sent.has_value() && !std::exchange(is_broken_, true)) {
            // A part of the message may have been sent, so no other message can follow it.
            through_->cut();
            wake_all(switch_waits_);
            if (!goes_on()) {
                lost(sent.error());
            }
        }
        is_asked_ = true;
        turns_.pass();
    }
    end_sending();
    return sent;
}

// Reports to the run that sending has failed. If memory is short, no rule runs.
void end::lost(int error) noexcept
{
    try {
        of_->lost(*this, event::broken, flux::describe_error(error).c_str());
    } catch (const std::bad_alloc &) {
        of_->lost(*this);
    }
}

// Notes that a flow no longer sends.
void end::end_sending() noexcept
{
    if (--senders_ != 0) {
        return;
    }
    if (is_left_ && is_broken_) {
        on_->attach();
        on_->close();
    } else {
        settle();
    }
}

void end::has_input() noexcept
{
    is_asked_ = false;
    of_->has_input();
}

void end::failed(int error, const flux::message_parse &wanted) noexcept
{
    what_ = event_of(error);
    why_ = told_of(error, wanted);
}

void end::end_behind_rule() noexcept
{
    const std::shared_ptr<end> stays = shared_from_this();
    of_->input_ended(*this);
    end_sending();
}

flux::io_result<void> end::send(const request &what) noexcept
{
    if (servers_ == nullptr) {
        return in_turn([&] { return send_alone(what.what); });
    }
    if (is_shared()) {
        return send_shared(what);
    }
    bool is_noted = false;
    const flux::io_result<void> sent = in_turn([&] {
        is_noted = note(what);
        return is_noted ? send_with_mark(what) : flux::unexpected(ENOMEM);
    });
    return sent_or_repeated(sent, is_noted);
}

// A request that is not in the list, because the end was over before, goes to the next end at its place.
flux::io_result<void> end::sent_or_repeated(flux::io_result<void> sent, bool is_noted) const noexcept
{
    if (sent.has_value() || (is_repeated_ && is_noted)) {
        return {};
    }
    const bool has_left = is_broken_ && sent.error() == ECONNRESET && of_ != nullptr && !of_->has(*this);
    return !is_noted && (is_repeated_ || has_left) ? flux::unexpected(EAGAIN) : sent;
}

flux::io_result<void> end::send_shared(const request &what) noexcept
{
    ++senders_;
    bool is_noted = false;
    flux::io_result<void> sent;
    if (const int error = what.awaits_room ? await_room() : 0; error != 0) {
        sent = flux::unexpected(error);
    } else if (is_broken_ || is_finished_) {
        sent = flux::unexpected(is_broken_ ? ECONNRESET : EPIPE);
    } else {
        sent = shared_->send(*this, what, is_noted);
    }
    if (--senders_ == 0) {
        coming_->changed();
        settle_shared();
    }
    return sent_or_repeated(sent, is_noted);
}

bool end::send_now(const flux::message &what) noexcept
{
    if (servers_ != nullptr || is_broken_ || is_finished_ || what.stream() != nullptr || !turns_.are_free()) {
        return false;
    }
    const std::string_view bytes = what.wire();
    const iovec whole{const_cast<char *>(bytes.data()), bytes.size()};
    was_used_ = true;
    is_asked_ = true;
    return through_->send_later({&whole, 1});
}

flux::io_result<void> end::send(std::string_view bytes) noexcept
{
    return in_turn([&] {
        iovec whole{const_cast<char *>(bytes.data()), bytes.size()};
        return through_->send({&whole, 1});
    });
}

flux::io_result<bool> end::relay(flux::connection &from) noexcept
{
    flux::io_result<bool> relayed = false;
    const flux::io_result<void> sent = in_turn([&]() -> flux::io_result<void> {
        relayed = relay_alone(from);
        return {};
    });
    return sent.has_value() ? relayed : flux::io_result<bool>(flux::unexpected(sent.error()));
}

// Sends directly from the input of `from` as many bytes as possible without waiting. The rest stays there meanwhile.
flux::io_result<bool> end::relay_alone(flux::connection &from) noexcept
{
    while (true) {
        bool has_ended = false;
        bool is_all = false;
        const flux::io_result<void> received = from.receive_by([&](std::span<const std::byte> there) {
            has_ended = there.empty();
            const std::string_view bytes(reinterpret_cast<const char *>(there.data()), there.size());
            const std::size_t taken = has_ended ? 0 : through_->send_at_once(bytes);
            is_all = taken == there.size();
            return taken;
        });
        if (!received.has_value()) {
            return flux::unexpected(received.error());
        }
        if (is_all) {
            return has_ended;
        }
        if (const flux::io_result<void> flushed = through_->flush(); !flushed.has_value()) {
            return flux::unexpected(flushed.error());
        }
    }
}

// The flow that finds the end of the input has found no message, so it is not at work on one.
void end::end_input(flux::connection &own) noexcept
{
    is_at_work_ = false;
    if (input_ended()) {
        own.close();
    } else {
        own.detach();
    }
}

flux::io_result<void> end::send_alone(const flux::message &what) noexcept
{
    const auto send = [&](std::string_view bytes) {
        iovec whole{const_cast<char *>(bytes.data()), bytes.size()};
        const std::span<iovec> parts(&whole, 1);
        return through_->send_later(parts) ? flux::io_result<void>() : through_->send(parts);
    };
    const flux::io_result<void> head = send(what.wire());
    const std::shared_ptr<flux::message_stream> rest = what.stream();
    if (!head.has_value() || rest == nullptr) [[likely]] {
        return head;
    }
    return flux::through_window([&](std::span<std::byte> into) { return rest->pull_wire(into); }, send);
}

flux::io_result<void> end::send_with_mark(const request &what) noexcept
{
    const flux::io_result<void> sent = send_alone(what.what);
    return what.mark == nullptr || !sent.has_value() ? sent : send_alone(*what.mark);
}

void end::finish() noexcept
{
    is_finished_ = true;
    wake_all(switch_waits_);
    settle();
}

// The peer then ends its own output. If the source has received that end already, the end closes the connection now. If
// that end has arrived and the source receives it next, the source closes the connection then.
void end::end_output() noexcept
{
    if (through_ == nullptr) {
        return;
    }
    if (is_left_ && on_->attach().has_value()) {
        const std::shared_ptr<end> stays = shared_from_this();
        is_broken_ = true;
        through_ = nullptr;
        of_->forget(*this);
        on_->close_softly();
    } else if (!through_->peer_has_ended() && !closes()) {
        through_->end_output();
    }
}

// Closes the connection at once if the client sends nothing after its last request and the kernel has all bytes for it.
// Such a client loses no reply (RFC 9112, 9.6). Returns whether the connection was closed.
bool end::closes() noexcept
{
    if (!asks_no_more_ || !through_->can_close_now()) {
        return false;
    }
    const std::shared_ptr<end> stays = shared_from_this();
    if (!on_->close_idle()) {
        return false;
    }
    is_broken_ = true;
    through_ = nullptr;
    of_->forget(*this);
    return true;
}

bool end::leave(bool stops) noexcept
{
    const std::shared_ptr<end> stays = shared_from_this();
    wake_all(switch_waits_);
    if (is_kept()) {
        is_broken_ = true;
        servers_->forget(*this);
        through_ = nullptr;
        return true;
    }
    if (!is_broken_ && !stops && accepted_ && what_ == event::malformed &&
        of_->raise(what_, channel_, std::move(why_), stays)) {
        // The rule may still send a reply to the peer.
        ++senders_;
        is_left_ = true;
        return false;
    }
    if (!std::exchange(is_broken_, true) && (stops || !goes_on())) {
        stops ? of_->lost(*this) : of_->lost(*this, what_, std::move(why_));
    }
    if (senders_ != 0) {
        is_left_ = true;
        through_->cut();
        return false;
    }
    through_ = nullptr;
    return true;
}

bool end::input_ended() noexcept
{
    has_input_ended_ = true;
    wake_all(switch_waits_);
    if (is_broken_ || is_kept() || goes_on_behind_end()) {
        return leave(false);
    }
    const bool owes_answer = !accepted_ && is_asked_ && !is_switched() && !is_finished_;
    if (owes_answer && of_->of().rules_for(channel_, event::broken) != nullptr) {
        why_ = "ended before it answered";
        return leave(false);
    }
    const std::shared_ptr<end> stays = shared_from_this();
    of_->input_ended(*this);
    if (is_finished_ && senders_ == 0) {
        is_broken_ = true;
        through_ = nullptr;
        of_->forget(*this);
        return true;
    }
    is_left_ = true;
    return false;
}

} // namespace flick
