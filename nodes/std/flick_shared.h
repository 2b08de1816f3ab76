// Connections to servers that the runs of a loop share: requests of many runs leave in one write, and their replies
// come in one read.
//
// A run has an end of such a connection, as it has one of its own, and what it asks goes behind what others have asked.
// Which reply is whose their order decides: each request enters a list before its first byte can be answered, and the
// last reply to it takes it out. What comes for a run that has ended is dropped. A reply is given to its run by its
// source, which gives the connection back at once (`flick_replies.h`), so no run holds up another.
//
// Where the connection ends, each run whose replies are to come loses its end: it asks again, or something went wrong
// with that, as where the connection was its own. The others have another connection when they ask next.
//
// The pipeline of the runtime is for flows that each wait for one reply, and read it themselves (`flux/pipeline.hpp`);
// a run waits for nothing, and its replies begin flows.
#pragma once

#include "flick_end.h"
#include "flick_turns.h"

#include "flux/io/multiplexer.hpp"
#include "flux/moment.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace flick {

class reply;

/// One of them.
class shared_connection final : public flux::multiplexer, public std::enable_shared_from_this<shared_connection>
{
  public:
    /// Of this process, to this server, whose place it has. Throws `std::bad_alloc`.
    shared_connection(process &of, std::shared_ptr<backends> servers, std::size_t server);
    ~shared_connection() override;

    /// What is sent to `on` goes through this from now on.
    void begin(flux::connection &on);

    process &of() const noexcept { return of_; }
    const std::shared_ptr<backends> &servers() const noexcept { return servers_; }
    std::size_t server() const noexcept { return server_; }
    /// How many runs have an end of it.
    std::size_t size() const noexcept { return ends_.size(); }
    /// Whether it was asked before: its server may have ended it since.
    bool was_asked() const noexcept { return was_asked_; }

    /// An end of it is there, until it leaves. Throws `std::bad_alloc`.
    void add(std::shared_ptr<end> one);
    void remove(end &one) noexcept;

    /// Sends this behind what others send; the end has a share of it meanwhile. Fails as sending does, with ECONNRESET
    /// where the connection is over; of one that fails otherwise nothing was sent. `is_noted` says whether it was one
    /// of those whose replies are to come.
    flux::io_result<void> send(end &by, const request &what, bool &is_noted) noexcept;

    /// A reply of this size has come. Null where nobody wants it. Throws `std::bad_alloc`.
    std::shared_ptr<reply> came(message_role as, std::size_t size);
    /// One has come that goes on to this channel of who has asked, in its turn.
    void pass_on(message_role as, std::size_t to, const flux::message &what) noexcept;

    bool receives() const noexcept override { return false; }
    state receive() noexcept override { return state::open; }
    /// Whether nothing can be sent any more.
    bool is_over() const noexcept { return is_broken_; }
    /// Ends it now.
    void cut() noexcept
    {
        if (through_ != nullptr) {
            through_->cut();
        }
    }

    bool is_in_use() const noexcept override { return std::exchange(was_used_, false); }
    bool leave(bool stops) noexcept override;
    void failed(int error, const flux::message_parse &wanted) noexcept override;

  private:
    flux::io_result<void> send_alone(end &by, const request &what, bool &is_noted) noexcept;
    bool note(end &by, const request &what) noexcept;
    void expect_next() noexcept;
    std::shared_ptr<end> take_asker(message_role as) noexcept;
    void answered(end &of, message_role as, std::size_t size) noexcept;
    void end_all(event what, const char *why) noexcept;

    process &of_;
    const std::shared_ptr<backends> servers_;
    const std::size_t server_;
    flux::connection *on_ = nullptr;
    // Null after its end.
    flux::stream *through_ = nullptr;
    std::vector<std::shared_ptr<end>> ends_;
    // Who has asked, and for what (`request_facts::asks`), for each reply that is to come.
    struct awaited_reply {
        std::shared_ptr<end> by;
        std::uint8_t asks;
    };
    std::deque<awaited_reply> asked_;
    // Whose turn it is to send; and how many send, or wait to.
    turns turns_;
    std::size_t senders_ = 0;
    // Nothing can be sent any more; and the source has done with it.
    bool is_broken_ = false;
    bool is_left_ = false;
    bool was_asked_ = false;
    // It is idle where a server that was asked says nothing.
    mutable bool was_used_ = false;
    // What is wrong where the source leaves it.
    event what_ = event::broken;
    std::string why_;
};

/// Those to one server.
class shared_connections
{
  public:
    /// One for another run, of so many at most; null where the caller is to make one, and then says whether it is
    /// there. Waits until then for one that others make; fails as that has.
    int take(std::size_t most, flux::moment until, std::shared_ptr<shared_connection> &found) noexcept;
    /// Throws `std::bad_alloc`.
    void made(std::shared_ptr<shared_connection> one);
    void failed(int error) noexcept;
    /// It is over.
    void remove(const shared_connection &one) noexcept;
    /// Ends those whose servers fail their checks.
    void cut() noexcept;

  private:
    std::vector<std::shared_ptr<shared_connection>> all_;
    // How many are being made; those that wait for one; how often it could not be made, and why at last.
    std::size_t coming_ = 0;
    flux::intrusive_list<waiting_flow> waiting_;
    std::size_t failures_ = 0;
    int error_ = 0;
};

} // namespace flick
