/// \file
/// A connection: a stream with its peer, between requests and while one is served.
///
/// A connection has one owner at a time. While it is idle it belongs to the `connections` of the source that gave it:
/// that costs a few hundred bytes, no flow and no thread. When it has input the source gives it to a flow, which owns
/// it until it gives it back or closes it. So requests that a client sends without waiting for the answers are answered
/// one after the other, in order.
///
/// What a flow still owns at its end is closed then, and counted in the report; that goes for connections that it made
/// itself, too. A flow and its branches own a connection together. Only the owner can use it: for other flows, and for
/// the owner after it has given it back or closed it, each call fails with EBADF. So a stale pointer to a connection
/// gives an error, never a use of freed memory. To let a connection outlive its flow, detach it: then any flow may use
/// it, or attach it to itself.
///
/// If a flow has received bytes that belong to the next request, it puts them back.
///
/// A message with streams (`message_stream.hpp`) is received up to the first of them. While the rest is to come, what
/// is received here fails with EBUSY; the next message begins behind it. What nobody has pulled when the connection is
/// given back is passed over, where it is little and comes soon; else the connection is closed, after what was sent has
/// had time to arrive (RFC 9112, 9.6).
///
/// A flow never gets the descriptor of a connection: with io_uring the kernel may receive in advance, and those
/// bytes would be missing for a node that reads from the descriptor itself.
#pragma once

#include "flux/by_type.hpp"
#include "flux/feed.hpp"
#include "flux/flow/flow.hpp"
#include "flux/io.hpp"
#include "flux/io/unfinished_input.hpp"
#include "flux/list/intrusive_list.hpp"

#include <atomic>
#include <cerrno>
#include <memory>
#include <string_view>
#include <vector>

namespace flux {

class connection;
class multiplexer;
class received_stream;

/// Where connections come from and go back to: a source's `connections`, or a pool of those to a server. Flows give
/// back and close on whatever thread they run, so these calls come from any thread; on a loop, from its own.
class connection_home
{
  public:
    virtual ~connection_home() = default;
    connection_home(const connection_home &) = delete;
    connection_home &operator=(const connection_home &) = delete;

  protected:
    connection_home() noexcept = default;

    /// The calling flow owns it from now on.
    static void lend(connection &own) noexcept;
    /// It does not any more. It was lent to it, and not to a branch.
    static void reclaim(connection &own) noexcept;
    /// Whether there is input, its end or an error, as far as that is known at once.
    static bool has_input(connection &own) noexcept;
    /// Closes one that is here.
    static void close(connection &own) noexcept;

  private:
    friend class connection;

    // No flow has it any more: it is here. Where that closes it, this may have lost its last owner.
    virtual void take_back(connection &unused) noexcept = 0;
    // A flow has closed it.
    virtual void forget(connection &closing) noexcept = 0;
    // It is closed where no flow has it and nothing has come on it: whether that was so.
    virtual bool close_idle([[maybe_unused]] connection &idle) noexcept { return false; }
};

class connections;

/// A stream with its peer. Each call fails with EBADF if the caller does not own it.
class connection final : private belonging, private listed<connection>
{
  public:
    /// Waits until there are some bytes, and gives how many it has put into `into`: 0 at the end of the input.
    io_result<std::size_t> receive(std::span<std::byte> into, moment deadline = never) noexcept;

    /// As above, without a copy: calls `use(bytes)` with a `std::span` of those that are there, which is empty at the
    /// end of the input. `use` returns how many it has taken; the others are received again. The span is of no more use
    /// afterwards. Rethrows exceptions of `use`; then nothing is taken.
    template <class Use>
    io_result<void> receive_by(Use use, moment deadline = never)
    {
        const io_result<std::span<const std::byte>> there = look(deadline);
        if (!there.has_value()) {
            return unexpected(there.error());
        }
        try {
            return take(*there, use(*there));
        } catch (...) {
            take(*there, 0);
            throw;
        }
    }

    /// Reads the next message of a class, which `into` is to be read at its beginning: then that is whole and has its
    /// bytes. What has come behind it stays for the next call; so does the beginning of a message where this fails
    /// because its time is over. Fails with EBADMSG where the bytes are no such message, which `into` describes, with
    /// ECONNRESET where the peer ends its input in the middle, with ENOMEM where there is no memory to read it, and at
    /// the end as calls of `reading.hpp`.
    io_result<void> receive_message(message_parse &into, moment deadline = never) noexcept;

    /// The same of what was received already and not taken, without waiting; false where that is no whole message. The
    /// beginning of one stays for the next call.
    io_result<bool> receive_unread(message_parse &into) noexcept;

    /// What was received last and not used is received again, before all else. Takes time for what is put back, however
    /// much is to be received already. Throws `std::bad_alloc`.
    io_result<void> put_back(std::span<const std::byte> unused);

    /// Sends all of it. After an error it is not known how much has been sent. On an event loop it may go out a little
    /// later, together with what else is sent in the same turn of the loop; then an error is the next call's.
    io_result<void> send(std::string_view bytes, moment deadline = never) noexcept;
    /// As above, the parts one after the other. Changes what `parts` say.
    io_result<void> send(std::span<iovec> parts, moment deadline = never) noexcept;

    /// As `send`, together with what other flows send on it in the same turn of the loop, where that can be. One that
    /// is detached may be received from by another flow meanwhile.
    io_result<void> send_soon(std::string_view bytes, moment deadline = never) noexcept;

    /// Sends these bytes, in one packet with what comes next, and then a part of a file, which the kernel copies itself
    /// where it can. Fails with ENODATA if the file has become too short; the peer has got less than was promised then.
    io_result<void> send_file(std::string_view before, const file_part &part, moment deadline = never) noexcept;

    /// Sends buffered output now. For nodes that compute for long afterwards, and so block their loop.
    io_result<void> flush(moment deadline = never) noexcept;

    /// There is no more to send: the peer comes to the end of its input.
    io_result<void> end_output() noexcept;

    /// Ends both directions now, and so whatever waits for them; what is not sent is lost.
    io_result<void> cut() noexcept;

    /// Whether something was received that nobody has taken yet.
    bool has_unread() const noexcept { return read_of_unread_ != unread_.size(); }

    /// Limits each later wait for the peer that has no deadline of its own; 0 means no limit.
    void limit_waits(std::chrono::milliseconds time) noexcept { longest_wait_ = time; }

    /// Through which any flow may send on it from now on; the first call opens it, and says how many bytes may wait
    /// there. Null where the caller does not own the connection. Throws `std::bad_alloc`.
    std::shared_ptr<feed> open_feed(std::size_t most);

    /// What nodes keep for this connection from one request to the next: a `State` of it, which the first call makes,
    /// and which is destroyed with the connection. Null where the caller does not own the connection. Throws what the
    /// constructor throws, and `std::bad_alloc`.
    template <class State>
    State *state()
    {
        return usable() == 0 ? &states_.get<State>() : nullptr;
    }

    /// The address of the peer.
    const address &peer() const noexcept { return peer_; }
    /// Whether the peer connected to us; otherwise a flow of ours connected to it.
    bool accepted() const noexcept { return accepted_; }

    /// The protocol that it was agreed to speak on it when it was made secure (ALPN, RFC 7301), `h2`; empty if none
    /// was, or the caller does not own the connection.
    std::string_view protocol() const noexcept { return usable() == 0 ? through_->protocol() : std::string_view(); }
    /// Whether it is encrypted. False where the caller does not own it.
    bool is_secure() const noexcept { return usable() == 0 && through_->is_secure(); }

    /// Gives it back to its source, which gives it to another flow when there is more input. A connection whose input
    /// has ended is closed, and so is one that did not come from a source. If a branch calls this for a connection that
    /// it has not made itself, it is given back at the end of the flow, because other branches may be using it.
    io_result<void> give_back() noexcept;

    /// Gives it back as soon as the streams of the last message have been pulled, or else at the end of the flow; where
    /// there are none, at once.
    io_result<void> give_back_behind_streams() noexcept;

    /// Closes it. If a branch calls this for a connection that it has not made, only the output is ended now, and the
    /// connection is closed at the end of the flow.
    io_result<void> close() noexcept;

    /// Sends this without waiting, if there is room for it, ends the output, and closes the connection when its peer
    /// has ended it too, or after two seconds: what still comes is passed over, so that the peer receives what it was
    /// sent before (RFC 9112, 9.6). Meanwhile it costs no flow.
    io_result<void> close_softly(std::string_view last = {}) noexcept;

    /// What flows that do not have it send on it goes through this from now on, which receives nothing
    /// (`io/multiplexer.hpp`). Gives its stream, which lasts as long as it; null where the caller does not own it.
    stream *send_through(std::shared_ptr<multiplexer> by) noexcept;

    /// For what flows send through (`send_through`), on its loop: closes it where its source has it, and nothing has
    /// come on it that the source has not read. Gives whether that was so. What is not sent yet may be lost.
    bool close_idle() noexcept { return home_ != nullptr && home_->close_idle(*this); }

    /// From now on it goes back there; one that the flow has made. EBADF where the caller does not own it.
    io_result<void> set_home(std::shared_ptr<connection_home> home) noexcept;

    /// No flow owns it any more, and any flow may use it; on an event loop, any flow of that loop. The last flow that
    /// has it must close it or give it back.
    io_result<void> detach() noexcept;

    /// The calling flow owns it from now on. Fails with EBADF if it is not detached.
    io_result<void> attach() noexcept;

    /// Whether the caller may use it: 0 or EBADF.
    int usable() const noexcept
    {
        const void *const owner = used_by_.load(std::memory_order_relaxed);
        return owner != nullptr && owner == running_flow ? 0 : usable_otherwise(owner);
    }

  private:
    friend class connections;
    friend class connection_home;
    friend class connection_store;
    friend class received_stream;
    friend class intrusive_list<connection>;
    friend io_result<connection *> connect(const address &to, moment deadline) noexcept;

    /// What becomes of it at the end of the flow.
    enum class at_end : unsigned char { forgotten, closed, given_back };

    connection() noexcept = default;
    ~connection() = default;

    /// One that nobody uses yet; null where there is no memory. It has a home, or none.
    static connection *open(arrivals::newcomer peer, std::shared_ptr<connection_home> home) noexcept;

    moment bounded(moment deadline) const noexcept
    {
        return longest_wait_.count() == 0 || deadline != never ? deadline : end_of_longest_wait();
    }
    moment end_of_longest_wait() const noexcept;
    /// How far a message has come with what there was to be had at once.
    enum class progress : unsigned char {
        whole,
        unfinished,
        /// The peer may have sent more already.
        unfinished_so_far,
    };
    // One step of `receive_message`, which waits for bytes once.
    io_result<progress> advance(message_parse &into, moment deadline) noexcept;
    io_result<progress> begin_message(message_parse &into, moment deadline);
    io_result<progress> begin_unread(message_parse &into) noexcept;
    io_result<progress> begin_with(std::span<const std::byte> there, message_parse &into);
    io_result<progress> continue_message(message_parse &into, moment deadline);
    // Whether that is all there is to be looked at: bytes that nobody has taken, of messages that begin there.
    bool has_only_unread() const noexcept
    {
        const bool has_other = has_lost_input_ || unfinished_ != nullptr || incoming_ != nullptr ||
                               carries_ != nullptr || is_leaving_;
        return has_unread() && !has_other;
    }
    io_result<void> end_of_unfinished() noexcept;
    unexpected<int> lose_input() noexcept;
    io_result<std::span<const std::byte>> look(moment deadline) noexcept
    {
        // One that the flow may not use is not looked into: another has it.
        const int error = usable();
        if (error != 0 || incoming_ != nullptr) {
            return unexpected(error != 0 ? error : EBUSY);
        }
        return look_now(deadline);
    }
    io_result<std::span<const std::byte>> look_now(moment deadline) noexcept;
    message_bytes head_of(message_parse &whole, std::span<const std::byte> bytes);
    bool pass_streams() noexcept;
    void linger() noexcept;
    bool passes_over_input() noexcept;
    // Of what was there so many bytes are taken.
    io_result<void> take(std::span<const std::byte> there, std::size_t count) noexcept
    {
        if (has_unread()) {
            read_of_unread_ += count;
            return {};
        }
        return count == there.size() ? io_result<void>() : keep_unread(there.subspan(count));
    }
    io_result<void> keep_unread(std::span<const std::byte> rest) noexcept;
    // Out of the way of each call.
    [[gnu::noinline]] int usable_otherwise(const void *owner) const noexcept;
    void use_by_caller() noexcept;
    // For its home, where it is.
    void belongs_to_any() noexcept;
    void belongs_to_none() noexcept { used_by_.store(nullptr, std::memory_order_relaxed); }
    bool leave_flow(at_end how) noexcept;
    void go_back() noexcept;
    void end() noexcept;
    void end_unlinked() noexcept;
    bool flow_has_ended() noexcept override;

    // First what each request touches. Which flow owns it; or the mark of those that are detached; or null.
    std::atomic<const void *> used_by_{nullptr};
    std::unique_ptr<stream> through_;
    std::shared_ptr<connection_home> home_;
    // The flow, or the branch of it, that was given it or has made it.
    const flow *taken_by_ = nullptr;
    // What was received and not taken yet, and how much of that was taken since; input that could not be kept is lost.
    std::vector<std::byte> unread_;
    std::size_t read_of_unread_ = 0;
    bool has_lost_input_ = false;
    // What has come of a message that is not whole; then nothing is unread.
    std::unique_ptr<unfinished_input> unfinished_;
    // The streams of the last message, while they come.
    std::shared_ptr<received_stream> incoming_;
    bool ended_ = false;
    // What carries several exchanges on it; else null. And whether its peer has begun something there.
    std::shared_ptr<multiplexer> carries_;
    bool carries_unfinished_ = false;
    // Whether nothing is sent any more, and what comes is passed over.
    bool is_leaving_ = false;
    at_end at_end_ = at_end::forgotten;
    // How often its owner has looked at it since a flow gave it back.
    unsigned quiet_looks_ = 0;
    // When the first byte came of the message that its owner waits for, or when it began to leave; else `never`.
    moment message_begun_ = never;
    // It was accepted, and not made by a flow; and no flow has had it yet, or a message on it has begun that is not
    // whole.
    bool accepted_ = false;
    bool fresh_ = false;
    std::chrono::milliseconds longest_wait_{0};
    // When its owner looks next.
    moment look_at_ = never;
    address peer_;
    accept_seat seat_;
    by_type states_;
    // Where all that is sent goes, once it is open.
    std::shared_ptr<feed> feed_;
};

/// A connection to this address, which the calling flow owns.
io_result<connection *> connect(const address &to, moment deadline = never) noexcept;

} // namespace flux
