// An end: one connection of a run.
//
// The source of the channel reads the peer's messages and starts a flow for each. Other flows of the run send to the
// peer through its end, one message after the other. A flow waits while the connection has no room. So a peer that does
// not read slows down only the flows that send to it.
//
// The source calls `leave` when the connection is over. The end then stays until the last flow that sends there has
// left it too. That flow closes the connection.
//
// If the requests to a server state the number of their replies, the end counts the pending replies. When no reply is
// pending, another run may get the connection. The end also stores the pending requests. If the connection ends before
// the reply has begun, the run sends them again on another connection. This requires that each of them may be executed
// twice.
//
// Each reply arrives once, in the order of the requests. For this, one list has all pending requests, and one end has
// the list. A request enters the list before its first byte is sent. The reply removes the request. If the connection
// ends, the next end at this place of the run gets the whole list, with the requests that were not sent yet. No other
// flow sends there before all of them are sent. An end that is over passes no more messages on, even if its connection
// still has input.
#pragma once

#include "flick_asks.h"
#include "flick_backends.h"
#include "flick_run.h"
#include "flick_turns.h"
#include "flick_waiting.h"

#include "flux/io/multiplexer.hpp"
#include "flux/message.hpp"
#include "flux/message/exchange.hpp"

#include <list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flick {

using flux::message_role;
using flux::role_of;

/// One connection of an instance.
class end final : public flux::multiplexer,
                  public flux::listed<end>,
                  public std::enable_shared_from_this<end>
{
  public:
    end(std::shared_ptr<run> of, std::size_t channel, std::size_t element)
        : of_(std::move(of)), channel_(channel), element_(element)
    {
    }
    ~end() override;

    /// Makes this the end of a connection to a server. The end has a place of that server.
    void use(std::shared_ptr<backends> servers, std::size_t server) noexcept;
    /// Makes this an end of a connection to a server that runs share. Throws `std::bad_alloc`.
    void share(std::shared_ptr<shared_connection> on);
    bool is_shared() const noexcept { return shared_ != nullptr; }
    std::size_t server() const noexcept { return server_; }
    bool is_of_server() const noexcept { return servers_ != nullptr; }
    /// Counts this end in `clients` as long as it exists.
    void count_in(std::size_t &clients) noexcept
    {
        clients_ = &clients;
        ++clients;
    }
    /// Gives a kept end to this run.
    void begin_again(std::shared_ptr<run> of, std::size_t element);
    /// Whether a run can use a kept end again.
    bool is_usable() const noexcept { return !is_broken_ && !through_->has_input(); }
    /// Whether its run does not need it now: no reply is pending, and another connection can get the next request.
    bool may_be_lent() const noexcept;
    /// Takes it from its run, which gets another connection for its next request. The end is kept.
    void lend() noexcept;
    /// Keeps it or ends its output, if its run no longer needs it. Also keeps it if its run does not need it now and
    /// other flows wait for a connection.
    void settle() noexcept;
    /// Whether its place becomes free only after the flow of `by` has got a place, directly or through the waits of
    /// other runs. `search` is the number of the search for such a circle.
    bool is_stuck(const awaited_place &by, std::uint64_t search) const noexcept;
    /// Ends the connection now.
    void cut() noexcept
    {
        if (through_ != nullptr) {
            through_->cut();
        }
    }
    /// Sends again the pending requests of an earlier end. The run may send them again `repeats` more times. No other
    /// flow sends there meanwhile. Waits until all are sent or the connection has ended. In the second case another end
    /// gets them, or the run ends.
    void ask_all(std::vector<request> asked, std::size_t repeats) noexcept;

    /// Other flows send to `on` through this end from now on.
    void begin(flux::connection &on);
    /// As `begin`, for a connection without a source: no flow reads its input. The calling flow no longer has the
    /// connection.
    void begin_alone(flux::connection &on);

    /// Sends a message after the messages that other flows send. Sends its streams as their bytes arrive. The caller
    /// has a share of the end meanwhile. Fails as sending does, with EPIPE after `finish`, with ECONNRESET if the
    /// connection is over, and with EAGAIN if another end takes its place.
    flux::io_result<void> send(const request &what) noexcept;

    /// As above, for bytes.
    flux::io_result<void> send(std::string_view bytes) noexcept;

    /// Sends the bytes that arrive next on `from`, which the calling flow has. Only for bytes that go to no other end.
    /// Returns whether the input of `from` has ended. Fails as `send` and as receiving do.
    flux::io_result<bool> relay(flux::connection &from) noexcept;

    /// The role of the next reply, which states the role `as`. All replies up to a mark belong to one request.
    message_role role_of_next(message_role as) const noexcept
    {
        const bool has_mark = marked_ != 0 && marks_.front() == 0;
        as = as == message_role::last_request ? message_role::last_of_connection : as;
        return as == message_role::mark ? message_role::last : has_mark ? message_role::interim : as;
    }
    /// Notes that a flow has the connection, because input has arrived.
    void begin_work() noexcept { is_at_work_ = true; }
    /// Notes the role of a whole message that has arrived.
    void came(message_role as) noexcept;
    /// Whether the bytes after the client's last message may be other bytes than messages.
    bool may_switch() const noexcept { return may_switch_; }
    /// Waits until the server has replied to all requests of `own`, or the run no longer has this end. Returns 0, or
    /// the error of the wait.
    int await_answers_of(const run &own) noexcept;
    /// Whether the bytes after the server's last reply are not messages.
    bool is_switched() const noexcept { return carries_ != carried::messages; }
    /// Sends the bytes of this client to this server from now on. The client has the reply that ends the messages.
    void begin_tunnel(end &client) noexcept
    {
        client.tunnel_ = shared_from_this();
        carries_ = carried::tunnel;
        wake_all(switch_waits_);
    }
    /// The end of the server that a client's bytes go to; null if they are messages.
    const std::shared_ptr<end> &tunnel() const noexcept { return tunnel_; }
    /// Whether the client has sent its last message, which has no reply.
    bool has_left() const noexcept { return accepted_ && ends_next_; }
    /// Whether the client has sent its last message, which has a reply.
    bool has_asked_last() const noexcept { return accepted_ && asks_no_more_; }
    /// Waits for the turn of the reply that has arrived, if replies have an order. Returns 0, the error of the wait, or
    /// ECONNRESET if the connection is over.
    int await_order() noexcept;
    /// Whether the reply that has arrived ends only a part of the client's request. The client does not get it.
    bool is_of_part() const noexcept;
    /// Notes that the message that has arrived was passed on or dropped.
    void passed_on() noexcept;
    /// Notes that the flow has given the connection back.
    void end_work() noexcept;
    /// Whether flows read the input message by message. Otherwise the ends of messages are unknown.
    bool counts() const noexcept { return counts_; }

    /// Notes that the flow with the connection has read the end of the peer's output. The flow then no longer has the
    /// connection.
    void end_input(flux::connection &own) noexcept;

    // For a shared connection:

    /// The run that has it, or null after the run has left.
    const std::shared_ptr<run> &owner() const noexcept { return of_; }
    /// Whether its replies have an order.
    bool is_ordered() const noexcept { return is_ordered_; }
    /// The replies that have arrived for its run.
    const std::shared_ptr<replies> &coming() const noexcept { return coming_; }
    /// Its index among the ends of its connection.
    std::size_t place_among() const noexcept { return place_among_; }
    void place_among(std::size_t place) noexcept { place_among_ = place; }
    /// Notes a request that is sent, and its pending replies. Returns false if memory is short.
    bool is_sent(const request &what) noexcept { return is_asking_again_ || note(what); }
    /// Notes a reply of this size that has arrived and goes to its run.
    void answered(message_role as, std::size_t size) noexcept;
    /// Notes that the connection has ended.
    void connection_ended(event what, const char *why) noexcept;
    /// Drops interim replies that have arrived if the final reply after them is lost.
    void drop_unfinished() noexcept
    {
        if (is_shared()) {
            coming_->drop_unfinished();
        }
    }
    /// Waits until no reply is pending or the connection has ended. Returns 0, or the error of the wait.
    int await_answers() noexcept;
    /// Separates the run from the shared connection.
    void leave_shared() noexcept;

    /// Sends a message to a client without waiting. Returns false if that is not possible.
    bool send_now(const flux::message &what) noexcept;

    /// Lets flows send no more messages than they send now. After these the peer gets the end of its input.
    void finish() noexcept;

    run &of() const noexcept { return *of_; }
    /// Whether no run has it.
    bool is_kept() const noexcept { return of_ == nullptr; }
    std::size_t channel() const noexcept { return channel_; }
    std::size_t element() const noexcept { return element_; }
    /// The address of the peer, while the end is in its place. Throws `std::bad_alloc`.
    std::string peer() const;
    /// Whether flows cannot send there any more.
    bool is_over() const noexcept { return is_broken_; }
    /// Whether the peer opened the connection.
    bool accepted() const noexcept { return accepted_; }
    /// Whether flows send no new messages there.
    bool is_finished() const noexcept { return is_finished_; }

    bool receives() const noexcept override { return false; }
    state receive() noexcept override { return state::open; }
    bool is_in_use() const noexcept override { return std::exchange(was_used_, false); }
    bool leave(bool stops) noexcept override;
    bool input_ended() noexcept override;
    void failed(int error, const flux::message_parse &wanted) noexcept override;

    /// Notes that a message has arrived.
    void has_input() noexcept;
    /// Ends its input after the rule for a malformed message has run. Only flows call this.
    void end_behind_rule() noexcept;

  private:
    template <class Send>
    flux::io_result<void> in_turn(Send send) noexcept;
    flux::io_result<void> send_alone(const flux::message &what) noexcept;
    flux::io_result<void> send_with_mark(const request &what) noexcept;
    flux::io_result<void> send_shared(const request &what) noexcept;
    flux::io_result<void> sent_or_repeated(flux::io_result<void> sent, bool is_noted) const noexcept;
    int await_room() noexcept;
    bool note(const request &what) noexcept;
    bool note_asks(const request &what) noexcept;
    void expect_next() noexcept
    {
        if (through_ != nullptr && !is_shared()) {
            on_->expect(asks_.next());
        }
    }
    bool note_answers(const request &what, std::size_t replies) noexcept;
    void stop_counting() noexcept;
    void count_open() noexcept;
    void count_answer() noexcept;
    bool can_be_kept() const noexcept;
    void settle_shared() noexcept;
    bool goes_on_behind_end() const noexcept;
    bool goes_on() noexcept;
    void lost(int error) noexcept;
    flux::io_result<bool> relay_alone(flux::connection &from) noexcept;
    void end_sending() noexcept;
    void end_where_answered() noexcept;
    void end_output() noexcept;
    bool closes() noexcept;

    // Null while no run has the end.
    std::shared_ptr<run> of_;
    const std::size_t channel_;
    std::size_t element_;
    // For a connection to a server.
    std::shared_ptr<backends> servers_;
    std::size_t server_ = 0;
    // The number of open requests at that server, and the part of it that this end has added.
    std::size_t *all_open_ = nullptr;
    std::size_t own_open_ = 0;
    // For a connection of a client.
    std::size_t *clients_ = nullptr;
    // Whether the end counts replies, and the number of pending replies. Their requests, while the run may send them
    // again, and the number of times that it may.
    bool counts_ = false;
    std::size_t awaited_ = 0;
    std::vector<request> asked_;
    std::size_t repeats_ = 0;
    // For each pending mark, the number of replies between the previous mark and the request that this mark ends. And
    // the number of replies up to the last mark.
    std::list<std::size_t> marks_;
    std::size_t marked_ = 0;
    awaited_asks asks_;
    // The number of requests at the end of `asked_` that have not been sent yet.
    std::size_t unsent_ = 0;
    bool is_at_work_ = false;
    // Whether replies have an order; and whether the message that has arrived is a final reply.
    bool is_ordered_ = false;
    bool is_last_ = false;
    // The connection has ended, and another connection gets its pending and its later requests.
    bool is_repeated_ = false;
    // The peer has announced the end of the connection; has sent its last request; has ended its output.
    bool ends_next_ = false;
    bool asks_no_more_ = false;
    bool has_input_ended_ = false;
    // For a client: the next bytes may not be messages; and the server that gets them.
    bool may_switch_ = false;
    std::shared_ptr<end> tunnel_;
    // For a server: the kind of bytes after its last reply, and the flows that wait for this information.
    enum class carried : unsigned char { messages, other, tunnel };
    carried carries_ = carried::messages;
    flux::intrusive_list<waiting_flow> switch_waits_;
    // The end cannot pair replies with requests any more.
    bool never_counts_ = false;
    // For a shared connection.
    std::shared_ptr<shared_connection> shared_;
    std::shared_ptr<replies> coming_;
    std::size_t place_among_ = 0;
    bool is_asking_again_ = false;
    flux::connection *on_ = nullptr;
    // Null after the end of the connection.
    flux::stream *through_ = nullptr;
    bool accepted_ = false;
    // The turns of the flows that send; and the number of flows that send or wait to send.
    turns turns_;
    std::size_t senders_ = 0;
    // Flows send no new messages; the output has ended; flows cannot send any more; the source has left the connection.
    bool is_finished_ = false;
    bool is_output_ended_ = false;
    bool is_broken_ = false;
    bool is_left_ = false;
    mutable bool was_used_ = false;
    // A flow has sent bytes since the last message arrived.
    bool is_asked_ = false;
    // The fault to report when the source leaves the connection.
    event what_ = event::broken;
    std::string why_ = "its message did not come in time";
};

inline run &instance::of() const noexcept
{
    return all != nullptr ? *all : at_work != nullptr ? at_work->by() : from->of();
}

} // namespace flick
