// What a run has of one connection.
//
// What the peer sends is read by the source of the channel, a flow for each message; what other flows of the run send
// there goes through its end, one message after the other, and a flow waits where there is no room. So a connection
// that nobody reads slows down who sends there, and nobody else.
//
// An end that is `left` by the source, as its connection is over, stays until the last flow that sends there has left
// it too, and that one closes the connection.
#pragma once

#include "flick_run.h"

#include "flux/io/multiplexer.hpp"
#include "flux/message.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace flick {

/// What an instance has of one connection.
class end final : public flux::multiplexer, public std::enable_shared_from_this<end>
{
  public:
    end(std::shared_ptr<run> of, std::size_t channel, std::size_t element) noexcept
        : of_(std::move(of)), channel_(channel), element_(element)
    {
    }
    ~end() override { of_->forget(*this); }

    /// What is sent to `on` by others goes through this from now on.
    void begin(flux::connection &on) noexcept;
    /// As above, and no source has it: nobody reads what comes there. The calling flow has it no longer.
    void begin_alone(flux::connection &on) noexcept;

    /// Sends a message behind those that others send; with its streams, as they come. Fails as sending does, with EPIPE
    /// where nothing is sent any more, and with ECONNRESET where the connection is over.
    flux::io_result<void> send(const flux::message &what) noexcept;

    /// As above, these bytes.
    flux::io_result<void> send(std::string_view bytes) noexcept;

    /// Sends what there is to be received of `from`, which the calling flow has; where it is to go to this end alone.
    /// Gives whether it has come to its end. Fails as `send` does, and as receiving.
    flux::io_result<bool> relay(flux::connection &from) noexcept;

    /// The flow that has the connection has seen the end of what the peer sends: it has it no longer.
    void end_input(flux::connection &own) noexcept;

    /// Nothing is sent any more behind what flows send now: then the peer comes to the end of its input.
    void finish() noexcept;

    run &of() const noexcept { return *of_; }
    std::size_t channel() const noexcept { return channel_; }
    std::size_t element() const noexcept { return element_; }
    /// The address of the peer.
    const std::string &peer() const noexcept { return peer_; }
    /// Whether nothing can be sent there any more.
    bool is_over() const noexcept { return is_broken_; }
    /// Whether its peer has connected to us.
    bool accepted() const noexcept { return accepted_; }

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
    struct turn;

    template <class Send>
    flux::io_result<void> in_turn(Send send) noexcept;
    flux::io_result<void> send_alone(const flux::message &what) noexcept;
    flux::io_result<bool> relay_alone(flux::connection &from) noexcept;
    flux::io_result<void> await_turn() noexcept;
    void pass_turn() noexcept;
    void end_sending() noexcept;
    void end_output() noexcept;

    const std::shared_ptr<run> of_;
    const std::size_t channel_;
    const std::size_t element_;
    flux::connection *on_ = nullptr;
    // Null after its end.
    flux::stream *through_ = nullptr;
    std::string peer_;
    bool accepted_ = false;
    // Whether a flow sends; those that wait behind it; and how many both are.
    bool is_sending_ = false;
    flux::intrusive_list<turn> line_;
    std::size_t senders_ = 0;
    // Nothing more is to be sent; nothing can be sent any more; the source has done with it.
    bool is_finished_ = false;
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
    return all == nullptr ? from->of() : *all;
}

} // namespace flick
