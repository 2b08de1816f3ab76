// Connections to servers that the runs of an event loop share. Requests of many runs leave in one write, and their
// replies arrive in one read.
//
// A run has an end of a shared connection, just like an end of a connection of its own. Its requests go out behind the
// earlier requests of other runs. The order of the requests decides which reply belongs to which run. Each request
// enters a list before the server can answer its first byte, and its last reply takes it out. The connection drops
// replies to a run that has ended. The source gives each reply to its run, and gives the connection back at once
// (`flick_replies.h`). Therefore no run holds up another.
//
// If the connection ends, each run with pending replies loses its end. The run repeats its requests, or a fault occurs,
// just like on a connection of its own. The other runs get another connection for their next request.
//
// The pipeline of the runtime (`flux/pipeline.hpp`) serves flows that each wait for one reply and read it themselves. A
// run does not wait for its replies: they begin flows.
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

/// A connection to a server that runs share.
class shared_connection final : public flux::multiplexer, public std::enable_shared_from_this<shared_connection>
{
  public:
    /// A connection of this process to this server. It takes over a place at the server, and its destructor frees the
    /// place. Throws `std::bad_alloc`.
    shared_connection(process &of, std::shared_ptr<backends> servers, std::size_t server);
    ~shared_connection() override;

    /// Carries the output of `on` from now on.
    void begin(flux::connection &on);

    process &of() const noexcept { return of_; }
    const std::shared_ptr<backends> &servers() const noexcept { return servers_; }
    std::size_t server() const noexcept { return server_; }
    /// The number of runs that have an end of the connection.
    std::size_t size() const noexcept { return ends_.size(); }
    /// Whether a run has sent a request before. If so, the server may have ended the connection since then.
    bool was_asked() const noexcept { return was_asked_; }

    /// Adds an end, which stays until `remove` or the end of the connection. Throws `std::bad_alloc`.
    void add(std::shared_ptr<end> one);
    void remove(end &one) noexcept;

    /// Sends a request behind the requests of other flows. The end keeps this object alive until the call returns.
    /// Returns the error of the wait or of sending, or ECONNRESET if the connection is over. `is_noted` says whether
    /// the request entered the list of pending replies. If it did not, and the error is not ECONNRESET, no byte was
    /// sent.
    flux::io_result<void> send(end &by, const request &what, bool &is_noted) noexcept;

    /// Records that a reply of this size has arrived. Returns the reply, or null if no run wants it. Throws
    /// `std::bad_alloc`.
    std::shared_ptr<reply> came(message_role as, std::size_t size);
    /// Records that a reply has arrived that goes to this channel of its run unchanged. The run sends it in its turn.
    void pass_on(message_role as, std::size_t to, const flux::message &what) noexcept;

    bool receives() const noexcept override { return false; }
    state receive() noexcept override { return state::open; }
    /// Whether flows can send nothing any more.
    bool is_over() const noexcept { return is_broken_; }
    /// Ends the connection now.
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
    // Null after the end of the connection.
    flux::stream *through_ = nullptr;
    std::vector<std::shared_ptr<end>> ends_;
    // For each pending reply: the end that sent the request, and the request's `asks` (`request_facts::asks`).
    struct awaited_reply {
        std::shared_ptr<end> by;
        std::uint8_t asks;
    };
    std::deque<awaited_reply> asked_;
    // The turns of the flows that send, and the number of flows that send or wait for their turn.
    turns turns_;
    std::size_t senders_ = 0;
    // Whether flows can send nothing any more, and whether the source has left the connection.
    bool is_broken_ = false;
    bool is_left_ = false;
    bool was_asked_ = false;
    // Whether the connection was in use since the last look. It counts as idle if requests are pending and the server
    // sends nothing.
    mutable bool was_used_ = false;
    // The event and the text of the fault that the runs get when the source leaves the connection.
    event what_ = event::broken;
    std::string why_;
};

/// The shared connections to one server.
class shared_connections
{
  public:
    /// Finds a connection for another run; there are at most `most` connections. If `found` is null, the caller must
    /// make a connection, and then call `made` or `failed`. If other flows are making the only connections, waits for
    /// one until `until`. Returns the error of the wait or of the failed connection.
    int take(std::size_t most, flux::moment until, std::shared_ptr<shared_connection> &found) noexcept;
    /// Adds a connection that a caller of `take` has made. Throws `std::bad_alloc`.
    void made(std::shared_ptr<shared_connection> one);
    /// Reports to the waiting flows that a caller of `take` could not make a connection.
    void failed(int error) noexcept;
    /// Removes a connection that is over.
    void remove(const shared_connection &one) noexcept;
    /// Ends all these connections, because the server fails its checks.
    void cut() noexcept;

  private:
    std::vector<std::shared_ptr<shared_connection>> all_;
    // The number of connections that flows are making, and the flows that wait for one. Then the number of failed
    // attempts, and the error of the last one.
    std::size_t coming_ = 0;
    flux::intrusive_list<waiting_flow> waiting_;
    std::size_t failures_ = 0;
    int error_ = 0;
};

} // namespace flick
