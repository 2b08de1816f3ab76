// One run of a process: its channels, and its state. All of a run is on one event loop, so nothing here has a lock.
#pragma once

#include "flick_fault.h"
#include "flick_order.h"
#include "flick_replies.h"
#include "flick_waiting.h"

#include "flux/connection.hpp"
#include "flux/message.hpp"

#include <algorithm>
#include <any>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace flick {

using std::chrono::milliseconds;

class backends;
class end;
class process;
class run;
class shared_connection;

/// A message to be sent, and what it says of its replies: how many there are, less than none where that cannot be told,
/// whether it may be sent twice, and whether they come in the order of the requests. A part of what a client has asked
/// is one that others follow. What may have no reply has a mark sent behind it, whose reply is the last of both, and
/// goes to nobody.
struct request {
    flux::message what;
    std::int64_t replies = -1;
    bool may_repeat = false;
    bool in_order = false;
    bool is_part = false;
    // Who sends it reads no more of its own channel until there is room for the replies.
    bool awaits_room = false;
    // Of what has no number of replies.
    const flux::message *mark = nullptr;
};

/// One run of a process, as nodes have it: by the end from which the message came that is at work.
struct instance {
    end *from = nullptr;
    // The run itself, where no message is at work.
    std::shared_ptr<run> all;
    // The reply that is at work, of a connection that runs share; and that connection, before it is known whose it is.
    std::shared_ptr<reply> at_work;
    shared_connection *through = nullptr;

    run &of() const noexcept;
    /// A number of it, as part of a key: its local state is held by it.
    std::uint64_t hash() const noexcept { return reinterpret_cast<std::uintptr_t>(&of()); }
};

/// A flow waits for the place of a connection at one of these servers; where it `repeats` what was asked there, replies
/// that have an order may wait for it. Its wait ends where it `is_stuck`.
struct awaited_place : flux::listed<awaited_place> {
    backends &at;
    const std::size_t server;
    const bool repeats;
    flux::park &wait;
    bool is_stuck = false;

    awaited_place(backends &of, std::size_t which, bool asks_again, flux::park &ends) noexcept
        : at(of), server(which), repeats(asks_again), wait(ends)
    {
    }
};

/// One run of a process.
class run : public std::enable_shared_from_this<run>
{
  public:
    explicit run(process &of);
    run(const run &) = delete;

    /// The end of a channel, which is connected first where it is one that connects. Null where there is none: the
    /// client has left. Throws `std::bad_alloc`.
    flux::io_result<std::shared_ptr<end>> reach(std::size_t channel, std::size_t element, milliseconds limit,
                                                const char *servers);

    /// That of a channel at this index; null where it is not connected.
    end *at(std::size_t channel, std::size_t element) const noexcept;

    /// The clients that have made it together; the calling flow has their connections.
    void join(std::vector<flux::connection *> all) noexcept { joined_ = std::move(all); }
    const std::vector<flux::connection *> &joined() const noexcept { return joined_; }

    /// Whether it is in its place, or is to be.
    bool has(const end &one) const noexcept;
    /// An end is there.
    void add(end &made);
    /// It sends no more.
    void input_ended(end &of) noexcept;
    /// It is asked nothing more, and nothing is to come.
    void answered(end &of) noexcept;
    /// It is of no more use: so is the run.
    void lost(end &of) noexcept;
    /// The same, as something went wrong: where there is a rule for that the run goes on.
    void lost(end &of, event what, std::string why) noexcept;
    /// All that was asked there is answered, and nothing more will be.
    void released(end &of) noexcept;
    /// Its connection has ended; what was asked there is to be asked again. Whether that is so.
    bool ask_again(end &of, std::vector<request> asked, std::size_t repeats) noexcept;
    /// Whether that is still to be done for something; and waits until it is. Gives 0, or the error of the wait.
    bool is_asking_again() const noexcept { return repeating_ != 0; }
    int await_asked_again() noexcept;
    /// Its connection has ended, and the next that is sent there has another one.
    void parted(end &of) noexcept;
    /// Gives the run a connection of its own in the place of an end that is shared, as soon as all is answered that was
    /// asked there. Gives what is in that place then, as `reach` does, which may be shared again.
    flux::io_result<std::shared_ptr<end>> take_own(end &of, milliseconds limit, const char *servers);

    /// What has come of a server by shared connections.
    const std::shared_ptr<replies> &coming(std::size_t channel, std::size_t element);
    /// All that has come of one is passed on.
    void passed_on() noexcept;
    /// A reply that has arrived as one of these goes on to a channel, in its turn.
    void pass_on(replies &of, std::size_t to, const flux::message &what, bool is_last) noexcept;
    /// What is held among these, or is the next in the order, may have its turn: then it is sent on.
    void pass_held(replies &of) noexcept;
    /// The same of the next in the order alone.
    void pass_next_held() noexcept;
    /// Waits for that, as the connection is one of the run's own now. Gives 0, or the error of the wait.
    int await_passed_on(const end &own) noexcept;

    /// Asks again, once for each time that `ask_again` was true.
    void repeat(std::size_t channel, std::size_t element, std::vector<request> asked, std::size_t repeats,
                milliseconds limit, const char *servers) noexcept;
    bool is_over() const noexcept { return is_over_; }
    /// It is gone.
    void forget(end &gone) noexcept;

    /// Nothing more is sent to any channel behind what flows send now, so the run ends.
    void finish_all() noexcept;

    /// Has the rule run that is for this; false where there is none, or it is not to run any more. Then the run ends.
    /// `last` is closed behind the rule, whose answer comes in the place of what is `lost`. Throws nothing: without
    /// memory no rule runs.
    bool raise(event what, std::size_t channel, std::string why, std::shared_ptr<end> last = nullptr,
               const reply_order::place *lost = nullptr) noexcept;
    /// A rule for that has run.
    void settled() noexcept;
    /// How many were raised so far.
    std::size_t raised() const noexcept { return raised_; }
    /// Waits until the rules have run for all that was raised. Gives 0, or the error of the wait.
    int await_settled() noexcept;
    /// A message has come of a channel.
    void has_input() noexcept { raised_in_a_row_ = 0; }

    /// The places for which flows of it wait.
    flux::intrusive_list<awaited_place> &awaits() noexcept { return awaits_; }
    /// It has one that others may wait for: those of its own waits end that are stuck now.
    void end_stuck_waits() noexcept;

    process &of() const noexcept { return of_; }
    reply_order &order() noexcept { return order_; }
    const reply_order &order() const noexcept { return order_; }
    /// It is not known any more in which order replies come.
    void give_up_order() noexcept;

    /// The state at this place.
    std::any &state(std::size_t place)
    {
        state_.resize(std::max(state_.size(), place + 1));
        return state_[place];
    }

  private:
    // An element of an array, or a channel that is in none.
    struct place {
        end *there = nullptr;
        bool is_connecting = false;
        // The one that is made, while it is asked what another was before: nobody else sends there meanwhile.
        end *repeating = nullptr;
        // It was there, and has ended what it sends.
        bool has_ended = false;
    };

    // Which connection is wanted: any; one that was not kept; or one that nobody shares.
    enum class wanted : unsigned char { any, fresh, own };

    flux::io_result<std::shared_ptr<end>> connect(std::size_t channel, std::size_t element, milliseconds limit,
                                                  const char *servers, wanted what);
    flux::io_result<std::shared_ptr<end>> obtain(std::size_t channel, std::size_t element, milliseconds limit,
                                                 const char *servers, wanted what) noexcept;
    flux::io_result<std::shared_ptr<end>> made_by(std::size_t channel, std::size_t element, flux::moment until,
                                                  const char *servers, wanted what);
    flux::io_result<std::shared_ptr<end>> made_of(flux::connection &on, std::size_t channel, std::size_t element,
                                                  std::size_t server);
    flux::io_result<std::shared_ptr<end>> made_shared(flux::connection &on, std::size_t channel, std::size_t element,
                                                      std::size_t server);
    std::shared_ptr<end> share(std::shared_ptr<shared_connection> on, std::size_t channel, std::size_t element);
    flux::io_result<std::shared_ptr<end>> unreachable(std::size_t channel, std::size_t element, bool is_lost,
                                                      const std::string &to, int error);
    bool is_answered_in_turn(event what, std::size_t channel) const noexcept;
    void expect_rule(reply_order::place answer, const reply_order::place *lost);
    std::size_t answered_at(reply_order::place at) const noexcept;
    void repeat_now(std::size_t channel, std::size_t element, std::vector<request> asked, std::size_t repeats,
                    milliseconds limit, const char *servers) noexcept;
    void finish_fed() noexcept;
    void leave_unanswered(std::size_t channel, std::size_t element) noexcept;
    void leave(end &gone) noexcept;
    template <class Do>
    void for_all_coming(Do what) noexcept;
    void pass_all_held() noexcept;
    bool has_ended(std::size_t channel, std::size_t depth) const noexcept;

    process &of_;
    // By channel, and by element.
    std::vector<std::vector<place>> places_;
    std::vector<std::vector<std::shared_ptr<replies>>> coming_;
    // Something that comes to an end has done so.
    bool has_ended_input_ = false;
    std::vector<std::any> state_;
    std::vector<flux::connection *> joined_;
    // Flows that wait for a connection that another makes; and on how many what was asked is to be asked again.
    flux::intrusive_list<waiting_flow> waiting_;
    std::size_t repeating_ = 0;
    // Those that wait for rules; and how many these are, how many there were, and those without a message in between.
    flux::intrusive_list<waiting_flow> unsettled_;
    std::size_t pending_ = 0;
    std::size_t raised_ = 0;
    std::size_t raised_in_a_row_ = 0;
    bool is_over_ = false;
    flux::intrusive_list<awaited_place> awaits_;
    // What is held is being passed on; and more of it may have its turn.
    bool is_passing_ = false;
    bool is_passing_all_ = false;
    reply_order order_;
};

} // namespace flick
