// A connection of HTTP/2 (RFC 9113), for the flows of its streams. nghttp2 has the frames, the header compression and
// the windows; this has what it is to send and to receive, and the flows that wait for that.
//
// The source of the connection receives: it gives nghttp2 what has come, puts requests that are whole into its queue,
// and contents at their streams, where flows pull them. A stream has a window of 64 KiB and all of them together one of
// 256 KiB, which open again as flows pull; so no more than that waits in memory.
//
// What is to be sent is asked of nghttp2, which takes the streams in turns. One sends at a time. Where it is a flow it
// waits for the peer; it goes on with what others have, until its own content has gone and another flow waits with its
// content, which goes on then. The source, and whoever only has a word to say, sends what goes without waiting.
//
// This always holds, while nobody has the lock and the connection has not ended:
//
// - What could be sent at once was sent, or somebody is sending.
// - What the peer takes no more of is sent by a flow that waits for a stream; where none does, with what comes next.
// - A stream is in the table from its first field until both sides have ended it. Its flow may have it longer.
// - When the source has left, a flow that waits for a stream receives, if nobody receives or sends: what it has waits
//   for a window, so it misses nothing meanwhile. The last one that uses the connection closes it.
//
// Everything here is done with the lock, except sending and receiving. Nobody waits for the peer who has it.
#pragma once

#include "http.flux.h"

#include "flux/io.hpp"
#include "flux/io/multiplexer.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

struct nghttp2_session;

namespace http {

class stream;

/// How often something may come that costs its sender nothing.
class allowance
{
  public:
    allowance(double at_once, double per_second) noexcept
        : left_(at_once), at_once_(at_once), per_second_(per_second), since_(flux::running_io().last_look())
    {
    }

    /// Once more: false where that is too often.
    bool spend() noexcept;

  private:
    double left_;
    const double at_once_;
    const double per_second_;
    flux::moment since_;
};

/// Of one connection.
class session final : public flux::multiplexer, public std::enable_shared_from_this<session>
{
  public:
    using alone = std::unique_lock<std::mutex>;

    /// Over this stream of the connection. Requests go into the queue. Throws `std::bad_alloc`.
    session(flux::connection &on, const settings &by, flux::stream &through, std::deque<request> &requests);
    ~session() override;

    /// The first bytes have come.
    void begin(std::string_view bytes);

    state receive() noexcept override;
    bool is_in_use() const noexcept override;
    bool leave(bool stops) noexcept override;

    const flux::address &peer() const noexcept { return peer_; }

    /// How a stream waits: for what comes, or for what it has to send.
    enum class side : unsigned char { in, out };

  private:
    friend class stream;
    friend struct frames;

    static void wake(stream &one) noexcept;
    void wake_all() noexcept;
    int wait(stream &own, side which, alone &held, flux::moment deadline) noexcept;
    int step(stream &own, side which, alone &held, flux::moment deadline) noexcept;
    bool has_output() const noexcept;
    bool fill() noexcept;
    void write(stream &own, alone &held, flux::moment deadline) noexcept;
    void write_at_once() noexcept;
    bool others_wait(const stream &but) const noexcept;
    int receive_here(alone &held, flux::moment deadline) noexcept;
    void give(std::string_view bytes) noexcept;
    void fail() noexcept;
    bool is_used() const noexcept;
    void finish(stream &own, alone &held) noexcept;
    void close(std::int32_t id, stream &one) noexcept;

    flux::connection &on_;
    // Streams outlive the connection, which may be another client's then.
    const flux::address peer_;
    const settings &by_;
    flux::stream &through_;
    std::deque<request> &requests_;
    mutable std::mutex lock_;
    nghttp2_session *frames_ = nullptr;
    std::map<std::int32_t, std::shared_ptr<stream>> streams_;
    // How many of them are answered by no flow, and keep nothing in use.
    std::size_t refused_ = 0;
    // What is being sent, or could not be sent yet.
    std::string out_;
    // Whose flow sends; null where nobody does.
    const stream *writer_ = nullptr;
    bool is_reading_ = false;
    // Nothing is received or sent any more.
    bool is_over_ = false;
    bool is_left_ = false;
    bool is_closed_ = false;
    // Its first settings have come; a header has begun, and is not whole.
    bool is_greeted_ = false;
    bool in_header_ = false;
    // Streams that flows have, those that have been reset too.
    std::atomic<unsigned> alive_{0};
    allowance resets_;
    allowance others_;
};

} // namespace http
