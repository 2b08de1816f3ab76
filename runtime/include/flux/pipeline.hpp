/// \file
/// A pipeline: requests of several flows over one connection to a server, and its replies, which come in the same order.
///
/// A flow that calls `exchange` has a place in the line, behind those who came before. One flow at a time sends, one at a
/// time reads: the first in the line whose request was sent. When its reply is whole, the next one reads. So each flow
/// reads its own reply, in its own way, and nobody has to do it for the others.
///
/// A place is in one of these states, and its flow does this:
///
///     queued     waits, as another flow sends      → sending, gone
///     sending    sends its request                 → sent or reading, gone
///     sent       waits, as another flow reads      → reading, given up, gone
///     reading    reads replies up to its own       → gone, given up
///     given up   has left; the reply is to come    → gone
///     gone       has left; nothing is to come
///
/// This always holds:
///
/// - Only one is `sending`, and only one is `reading`.
/// - A flow waits in `queued` only while another is `sending`, and in `sent` only while another is `reading`.
/// - While one is `sending`, a reply that is to come for those before it has somebody who reads.
///
/// For this, whoever leaves `sending` or `reading`, for whatever reason, hands it on in the same step, to the first that
/// waits for it. That step, and each other change of a state, is made alone, and wakes the flow that it concerns. A flow
/// that wakes looks at its state, not at why it woke: so one whose time was over at the moment at which its turn came
/// knows of that, and hands it on.
///
/// Where the time of a flow is over after its request was sent, its place is given up: whoever reads next reads that reply
/// too, and drops it. From then on nobody enters the line any more, as the server may be stuck. Where a request cannot be
/// sent whole, nothing is sent behind it, and those before it have their replies. Where a reply cannot be read the
/// connection is cut, and so all calls end that wait for it. So it is where nobody is left to read a reply that was given
/// up, and another sends: the server may have to send it before it receives more, and nobody would ever go on.
#pragma once

#include "flux/connection.hpp"
#include "flux/message.hpp"
#include "flux/message/parse.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>

namespace flux {

class park;

/// Of one connection.
class pipeline
{
  public:
    /// What came of an exchange.
    struct result {
        /// 0 where the reply is there.
        int error;
        /// Whether the server may have received the request, or a part of it.
        bool was_sent;
    };

    /// Over this connection, which is detached, and which nobody else uses. Throws `std::bad_alloc`.
    explicit pipeline(connection &over) : over_(over) {}
    pipeline(const pipeline &) = delete;
    pipeline &operator=(const pipeline &) = delete;

    /// Sends a request without streams and reads its reply, which `reply` is to be read at its beginning: then that is
    /// whole and has its bytes. Of a call that fails nothing is left of it. Fails with ECONNRESET where the connection has
    /// come to its end through the exchange of another flow, and otherwise as sending and `connection::receive_message`.
    /// Flows call this at once, on any threads; on a loop, on its own. Throws `std::bad_alloc`; then nothing was sent.
    result exchange(const message &request, std::unique_ptr<message_parse> &reply);

    /// Whether others may enter the line.
    bool takes_more() const noexcept;

    /// Where nobody is in the line: whether the connection can be used for anything else.
    bool is_clean() const noexcept;

  private:
    enum class state : unsigned char { queued, sending, sent, reading, given_up, gone };

    struct place {
        state is = state::queued;
        std::unique_ptr<message_parse> reply;
        /// Where its flow waits, as long as it does.
        park *waits = nullptr;
    };

    using alone = std::unique_lock<std::mutex>;

    int wait(place &own, alone &held) noexcept;
    static int time_is_over() noexcept;
    int await_turn_to_send(place &own, alone &held) noexcept;
    int send(place &own, const message &request, alone &held) noexcept;
    int await_turn_to_read(place &own, alone &held) noexcept;
    int read(place &own, alone &held) noexcept;
    int read_up_to(place &own) noexcept;

    void hand_on_sending() noexcept;
    void hand_on_reading() noexcept;
    void give_up(place &own) noexcept;
    void leave(place &own) noexcept;
    void end_sending() noexcept;
    void fail() noexcept;
    static void wake(place &one) noexcept;

    connection &over_;
    mutable std::mutex lock_;
    // In the order of the requests. An element stays where it is while others come and go at both ends.
    std::deque<place> line_;
    std::size_t queued_ = 0;
    bool is_sending_ = false;
    bool is_reading_ = false;
    bool takes_more_ = true;
    // Nothing is sent any more; and nothing is read.
    bool sending_ended_ = false;
    bool has_failed_ = false;
};

} // namespace flux
