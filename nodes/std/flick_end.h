// What a run has of one connection.
//
// What the peer sends is read by the source of the channel, a flow for each message; what other flows of the run send
// there goes through its end, one message after the other, and a flow waits where there is no room. So a connection
// that nobody reads slows down who sends there, and nobody else.
//
// An end that is `left` by the source, as its connection is over, stays until the last flow that sends there has left
// it too, and that one closes the connection.
//
// Where the messages to a server say how many replies they have, its end counts: it knows when nothing is to come any
// more, and then it may be kept for another run. What was asked last it still has, so that where the connection ends
// before the reply has begun it can be asked again on another one, if all of it may be asked twice.
//
// So that each reply comes once, and in the order of the requests, what is asked and not answered is one list, and one
// end has it. A request enters it before its first byte is sent, and its reply takes it out. Where the connection ends
// the whole list goes to the end that is made next at this place of the run, with what had not been sent yet; nobody
// else sends there before all of it is sent. An end that is over passes nothing on any more, whatever of its connection
// is still to be read.
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

/// What an instance has of one connection.
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

    /// It is one of a server, whose place it has.
    void use(std::shared_ptr<backends> servers, std::size_t server) noexcept;
    /// The same, and its connection is one that runs share. Throws `std::bad_alloc`.
    void share(std::shared_ptr<shared_connection> on);
    bool is_shared() const noexcept { return shared_ != nullptr; }
    std::size_t server() const noexcept { return server_; }
    bool is_of_server() const noexcept { return servers_ != nullptr; }
    /// It is one of so many, as long as it lasts.
    void count_in(std::size_t &clients) noexcept
    {
        clients_ = &clients;
        ++clients;
    }
    /// It was kept, and is of this run from now on.
    void begin_again(std::shared_ptr<run> of, std::size_t element);
    /// Whether one that was kept can be used again.
    bool is_usable() const noexcept { return !is_broken_ && !through_->has_input(); }
    /// Whether its run, which has it, can do without it now: all is answered, and the next can be asked on another.
    bool may_be_lent() const noexcept;
    /// Its run does without it; it is kept.
    void lend() noexcept;
    /// Where its run needs it no more, or not now and others wait for one, it is kept, or its output ends.
    void settle() noexcept;
    /// Whether its place comes free no sooner than who waits for this one has it, or a run that waits for what that
    /// one's run has, has another place.
    bool is_stuck(const awaited_place &by, std::uint64_t search) const noexcept;
    /// Ends its connection now.
    void cut() noexcept
    {
        if (through_ != nullptr) {
            through_->cut();
        }
    }
    /// It is asked what an end before it was, which may be asked again so often; nobody else sends there meanwhile.
    /// Waits until all of it is sent, or the connection has ended: then another has it, or the run ends.
    void ask_all(std::vector<request> asked, std::size_t repeats) noexcept;

    /// What is sent to `on` by others goes through this from now on.
    void begin(flux::connection &on);
    /// As above, and no source has it: nobody reads what comes there. The calling flow has it no longer.
    void begin_alone(flux::connection &on);

    /// Sends a message behind those that others send; with its streams, as they come. Whoever calls this has a share of
    /// the end meanwhile. Fails as sending does, with EPIPE where nothing is sent any more, with ECONNRESET where the
    /// connection is over, and with EAGAIN where another is made in its place.
    flux::io_result<void> send(const request &what) noexcept;

    /// As above, these bytes.
    flux::io_result<void> send(std::string_view bytes) noexcept;

    /// Sends what there is to be received of `from`, which the calling flow has; where it is to go to this end alone.
    /// Gives whether it has come to its end. Fails as `send` does, and as receiving.
    flux::io_result<bool> relay(flux::connection &from) noexcept;

    /// What a reply is that says this of itself, if it is the next: up to its mark all is of one request.
    message_role role_of_next(message_role as) const noexcept
    {
        const bool has_mark = marked_ != 0 && marks_.front() == 0;
        as = as == message_role::last_request ? message_role::last_of_connection : as;
        return as == message_role::mark ? message_role::last : has_mark ? message_role::interim : as;
    }
    /// A flow has the connection, as something has come; where it is a whole message, with what that is.
    void begin_work() noexcept { is_at_work_ = true; }
    void came(message_role as) noexcept;
    /// Whether the bytes behind the client's last message may not be messages.
    bool may_switch() const noexcept { return may_switch_; }
    /// Waits until the server has replied to all requests of `own`, or the run no longer has this end. Returns 0, or
    /// the error of the wait.
    int await_answers_of(const run &own) noexcept;
    /// Whether the bytes behind the server's last reply are not messages.
    bool is_switched() const noexcept { return carries_ != carried::messages; }
    /// Lets the bytes of this client go to this server: the client has the reply that ends the messages.
    void begin_tunnel(end &client) noexcept
    {
        client.tunnel_ = shared_from_this();
        carries_ = carried::tunnel;
        wake_all(switch_waits_);
    }
    /// The end of the server that a client's bytes go to; null if they are messages.
    const std::shared_ptr<end> &tunnel() const noexcept { return tunnel_; }
    /// Whether its client has said that it asks for nothing more, and is to have no answer.
    bool has_left() const noexcept { return accepted_ && ends_next_; }
    /// Whether its client has said with its last message that it sends no other.
    bool has_asked_last() const noexcept { return accepted_ && asks_no_more_; }
    /// Waits until it is the turn of what has come, where replies have an order. Gives 0, or the error of the wait.
    int await_order() noexcept;
    /// Whether what has come is not for who has asked, as it ends a part of that alone.
    bool is_of_part() const noexcept;
    /// What has come was passed on, or dropped.
    void passed_on() noexcept;
    /// The flow has given the connection back.
    void end_work() noexcept;
    /// Whether what comes is to be read message by message: else it is not known any more where they end.
    bool counts() const noexcept { return counts_; }

    /// The flow that has the connection has seen the end of what the peer sends: it has it no longer.
    void end_input(flux::connection &own) noexcept;

    // Of one that is shared:

    /// The run that has it; null where it has left.
    const std::shared_ptr<run> &owner() const noexcept { return of_; }
    /// Whether its replies have an order.
    bool is_ordered() const noexcept { return is_ordered_; }
    /// What has come for its run.
    const std::shared_ptr<replies> &coming() const noexcept { return coming_; }
    /// Which it is of the ends of its connection.
    std::size_t place_among() const noexcept { return place_among_; }
    void place_among(std::size_t place) noexcept { place_among_ = place; }
    /// A request is sent, and its replies are awaited. Whether there was memory to note it.
    bool is_sent(const request &what) noexcept { return is_asking_again_ || note(what); }
    /// A reply of this size has come, which is given to its run.
    void answered(message_role as, std::size_t size) noexcept;
    /// Its connection has ended.
    void connection_ended(event what, const char *why) noexcept;
    /// What has come of a reply whose end is lost goes to nobody.
    void drop_unfinished() noexcept
    {
        if (is_shared()) {
            coming_->drop_unfinished();
        }
    }
    /// Waits until all has come that was asked. Gives 0, or the error of the wait.
    int await_answers() noexcept;
    /// Its run has done with it.
    void leave_shared() noexcept;

    /// Sends this without waiting, where that is possible; not to a server.
    bool send_now(const flux::message &what) noexcept;

    /// Nothing is sent any more behind what flows send now: then the peer comes to the end of its input.
    void finish() noexcept;

    run &of() const noexcept { return *of_; }
    /// Whether no run has it.
    bool is_kept() const noexcept { return of_ == nullptr; }
    std::size_t channel() const noexcept { return channel_; }
    std::size_t element() const noexcept { return element_; }
    /// The address of the peer, as long as it is in its place. Throws `std::bad_alloc`.
    std::string peer() const;
    /// Whether nothing can be sent there any more.
    bool is_over() const noexcept { return is_broken_; }
    /// Whether its peer has connected to us.
    bool accepted() const noexcept { return accepted_; }
    /// Whether nothing more is sent there.
    bool is_finished() const noexcept { return is_finished_; }

    bool receives() const noexcept override { return false; }
    state receive() noexcept override { return state::open; }
    bool is_in_use() const noexcept override { return std::exchange(was_used_, false); }
    bool leave(bool stops) noexcept override;
    bool input_ended() noexcept override;
    void failed(int error, const flux::message_parse &wanted) noexcept override;

    /// A message has come.
    void has_input() noexcept;
    /// The rule has run for what its peer sent that was no message: its input is at its end. For a flow.
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

    // Null where it is kept.
    std::shared_ptr<run> of_;
    const std::size_t channel_;
    std::size_t element_;
    // Of one that was made to a server.
    std::shared_ptr<backends> servers_;
    std::size_t server_ = 0;
    // How many requests are open at that server, and how many of these are counted for this one.
    std::size_t *all_open_ = nullptr;
    std::size_t own_open_ = 0;
    // Of one that is a client's.
    std::size_t *clients_ = nullptr;
    // How many replies are to come, if that is known; what was asked for them, as long as it may be asked again; and
    // how often that may be.
    bool counts_ = false;
    std::size_t awaited_ = 0;
    std::vector<request> asked_;
    std::size_t repeats_ = 0;
    // For each mark that is to come, how many replies come before what it ends, behind the mark before; and how many
    // come up to the last mark.
    std::list<std::size_t> marks_;
    std::size_t marked_ = 0;
    awaited_asks asks_;
    // Of the last of `asked_` so many have not been sent yet.
    std::size_t unsent_ = 0;
    bool is_at_work_ = false;
    // Its replies have an order; and what has come is the last of one.
    bool is_ordered_ = false;
    bool is_last_ = false;
    // Its connection has ended, and what it was asked, or comes to be, is asked elsewhere.
    bool is_repeated_ = false;
    // Its peer has said that it will end it; or that it asks for nothing behind what it has asked; or sends no more.
    bool ends_next_ = false;
    bool asks_no_more_ = false;
    bool has_input_ended_ = false;
    // Of a client: the next bytes may not be messages; and the server that they go to.
    bool may_switch_ = false;
    std::shared_ptr<end> tunnel_;
    // Of a server: the bytes behind its last reply, and the flows that wait to know.
    enum class carried : unsigned char { messages, other, tunnel };
    carried carries_ = carried::messages;
    flux::intrusive_list<waiting_flow> switch_waits_;
    // Replies cannot be paired with requests any more.
    bool never_counts_ = false;
    // Of one that is shared.
    std::shared_ptr<shared_connection> shared_;
    std::shared_ptr<replies> coming_;
    std::size_t place_among_ = 0;
    bool is_asking_again_ = false;
    flux::connection *on_ = nullptr;
    // Null after its end.
    flux::stream *through_ = nullptr;
    bool accepted_ = false;
    // Whose turn it is to send; and how many send, or wait to.
    turns turns_;
    std::size_t senders_ = 0;
    // Nothing more is to be sent; nothing can be sent any more; the source has done with it.
    bool is_finished_ = false;
    bool is_output_ended_ = false;
    bool is_broken_ = false;
    bool is_left_ = false;
    mutable bool was_used_ = false;
    // Something was sent since the last message came.
    bool is_asked_ = false;
    // What is wrong where the source leaves it.
    event what_ = event::broken;
    std::string why_ = "its message did not come in time";
};

inline run &instance::of() const noexcept
{
    return all != nullptr ? *all : at_work != nullptr ? at_work->by() : from->of();
}

} // namespace flick
