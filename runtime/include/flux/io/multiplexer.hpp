/// \file
/// A multiplexer: what carries the exchanges of several flows on one connection at once, as HTTP/2 does with its
/// streams.
///
/// The connection stays with its source, which has the multiplexer receive whatever comes. So one that is idle costs no
/// flow, and what comes reaches the flow that it is for, whichever that is. What a flow has to send it sends through
/// the multiplexer, which has the connection's stream for that; on an event loop all of it happens there.
///
/// One that receives nothing leaves what comes to the source, which reads messages: only what is sent goes through it,
/// by flows that do not have the connection.
///
/// When the source is done with the connection, as its peer has ended it or the source stops, it `leaves`. Then the
/// multiplexer alone has the connection, until the last flow is done with it: that one attaches it, and closes it.
#pragma once

#include <memory>
#include <string_view>

namespace flux {

class connection;
class stream;

/// Of one connection.
class multiplexer
{
  public:
    /// What it is in after some input.
    enum class state : unsigned char {
        /// Nothing has begun.
        open,
        /// The peer has begun something, and is to send the rest of it before the limit of messages.
        unfinished,
        /// It has ended the connection, or is to be sent away.
        ended,
    };

    virtual ~multiplexer() = default;
    multiplexer(const multiplexer &) = delete;
    multiplexer &operator=(const multiplexer &) = delete;

    /// Whether it receives what comes; the same at any time.
    virtual bool receives() const noexcept { return true; }

    /// There is input: receives some of it, without waiting. For the source of the connection.
    virtual state receive() noexcept = 0;

    /// Whether exchanges go on, so that the connection is not idle.
    virtual bool is_in_use() const noexcept = 0;

    /// The source is done with the connection. Where it `stops` exchanges may go on to their end; else they end now.
    /// Whether nobody uses it any more, so that the source ends it.
    virtual bool leave(bool stops) noexcept = 0;

    /// Of one that receives nothing: the peer has ended what it sends, between two messages. Whether nothing is sent to
    /// it any more either, so that the source ends the connection; else it is as after `leave`.
    virtual bool input_ended() noexcept { return leave(false); }

  protected:
    multiplexer() noexcept = default;
};

/// A protocol that a peer may speak in place of the messages of a source.
class other_protocol
{
  public:
    /// For a connection whose first bytes, these, are no message: what carries it from now on; null where they do not
    /// begin this protocol either. The stream is the connection's, and lasts as long as it. Throws `std::bad_alloc`.
    virtual std::shared_ptr<multiplexer> begin(connection &on, stream &through, std::string_view bytes) = 0;

  protected:
    ~other_protocol() = default;
};

} // namespace flux
