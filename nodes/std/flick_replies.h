// Replies that have come on connections that runs share, and are not passed on yet.
//
// The source gives such a connection back as soon as it has read a reply, so what becomes of that holds up no other
// run: a client that is slow to take it, a rule that waits, replies that are to come before. For this there is room
// before the request is sent: a run asks for so much at a time, and what it reads its requests from is not read
// meanwhile.
//
// The replies of one server to one run are passed on one after the other, in the order in which they came, also where
// its connection has ended since, and the run has another.
//
// What goes on as it is has no flow while it waits for its turn: it is held here, and whoever passes on what is before
// it passes it on, too. Where it has its turn and its client is slow to take it, a flow waits for that
// (`flick_watch.h`).
#pragma once

#include "flick_order.h"
#include "flick_waiting.h"

#include "flux/message.hpp"
#include "flux/moment.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace flick {

class end;
class replies;
class run;

/// One of them, until it is passed on. Where that does not happen the run ends.
class reply : public flux::listed<reply>
{
  public:
    /// It has come for `by`, from `of`; the `last` to its request, or others come. Throws nothing.
    reply(std::shared_ptr<end> of, std::shared_ptr<run> by, bool is_last) noexcept;
    /// It was held among these.
    reply(std::shared_ptr<run> by, std::shared_ptr<replies> among, bool is_last) noexcept;
    reply(const reply &) = delete;
    reply &operator=(const reply &) = delete;
    ~reply() { settle(false); }

    /// Of one that was not held.
    end &from() const noexcept { return *of_; }
    run &by() const noexcept { return *by_; }
    bool is_last() const noexcept { return is_last_; }

    /// Whether all are passed on that come before: of its server, and where replies have an order of others, too.
    bool has_turn() const noexcept;
    /// Waits for that. Gives 0, or the error of the wait.
    int await_turn() noexcept;
    /// Whether it is not for who has asked, as it ends a part of that alone, or its end is lost.
    bool is_nobodys() const noexcept;
    /// It was passed on, or dropped; or the run ends.
    void settle(bool is_passed_on) noexcept;

  private:
    friend class replies;

    const std::shared_ptr<end> of_;
    const std::shared_ptr<run> by_;
    const std::shared_ptr<replies> among_;
    const bool is_last_;
    const bool is_ordered_;
    bool is_settled_ = false;
    bool is_unfinished_ = false;
    // The flow that passes it on, as long as it waits.
    flux::park *waits_ = nullptr;
};

/// One that goes on as it is, to a channel, while it waits for its turn; by then it is to be sent.
struct held_reply {
    flux::message what;
    std::size_t to;
    bool is_last;
    flux::moment until;
};

/// Those of one server to one run.
class replies : public std::enable_shared_from_this<replies>
{
  public:
    /// Of this element of a channel; whether they have an order with others.
    replies(reply_order::place at, bool is_ordered) noexcept : at_(at), is_ordered_(is_ordered) {}

    bool empty() const noexcept { return count_ == 0; }
    /// How many requests they end.
    std::size_t answered() const noexcept { return answered_; }

    /// Whether there is room for one more, where so many are awaited. There is for one always.
    bool has_room(std::size_t awaited) const noexcept;
    /// One of this size has come.
    void has_come(std::size_t size) noexcept;
    /// Waits until there may be more room, or something else of it has changed. Gives 0, or the error of the wait.
    int await_change() noexcept { return wait_in(waiting_); }
    void changed() noexcept { wake_all(waiting_); }

    /// One that goes on as it is has come; the `last` to its request, or others come.
    void arrived(bool is_last) noexcept
    {
        ++count_;
        answered_ += is_last ? 1 : 0;
    }
    /// Whether it could be sent on at once, as it has its turn.
    bool pass_on_now(run &by, std::size_t to, const flux::message &what, bool is_last) noexcept;
    /// Else it is held behind all others. Without memory for that nobody gets it, and this is false.
    bool hold(held_reply one) noexcept;
    /// Sends on those held that have their turn. Whether there were any.
    bool pass_held(run &by) noexcept;
    /// Nobody gets what is held.
    void drop_held() noexcept;
    /// Nor what has come of a reply whose end does not come any more.
    void drop_unfinished() noexcept;

  private:
    friend class reply;

    void add(reply &one) noexcept;
    void remove(reply &one) noexcept;
    bool has_held_turn(const run &by) const noexcept;
    held_reply take_held() noexcept;
    bool send_on(run &by, std::size_t to, const flux::message &what, bool is_last) const noexcept;
    void pass_on(run &by, held_reply one) noexcept;
    void passed_on(run &by, bool is_last) noexcept;
    void has_gone(bool is_last) noexcept
    {
        --count_;
        answered_ -= is_last ? 1 : 0;
    }

    const reply_order::place at_;
    const bool is_ordered_;
    // Those that flows have, and behind them those that are held, from the first on that is still there.
    flux::intrusive_list<reply> all_;
    std::vector<held_reply> held_;
    std::size_t first_held_ = 0;
    // Of both.
    std::size_t count_ = 0;
    std::size_t answered_ = 0;
    // The size of the largest so far, in bytes.
    std::size_t largest_ = 0;
    flux::intrusive_list<waiting_flow> waiting_;
};

} // namespace flick
