/// \file
/// Connections: a stream with its peer, between requests and while one is served.
///
/// A connection has one owner at a time. While it is idle it belongs to the `connections` of the source that gave it:
/// that costs a few hundred bytes, no flow and no thread. When it has input the source gives it to a flow, which has it
/// for itself until it gives it back or closes it. So requests that a client sends without waiting for the answers are
/// answered one after the other, in order.
///
/// What a flow has received and does not need, as it belongs to the next request, it puts back.
///
/// A flow has the connection, never its descriptor: where the kernel receives ahead of what is asked for, as io_uring
/// can, bytes that were read from the descriptor itself would be missing.
#pragma once

#include "flux/io/accepting.hpp"
#include "flux/io.hpp"

#include <chrono>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace flux {

class connections;

/// A stream with its peer. The pointer to it that a source gives, or `connect`, is good until `give_back` or `close`.
class connection
{
  public:
    /// Belongs to nobody: is closed when it is given back.
    connection(std::unique_ptr<stream> through, const address &peer) noexcept;
    /// Belongs to a source.
    connection(arrivals::arrival accepted, std::shared_ptr<connections> owner) noexcept;
    connection(const connection &) = delete;
    connection &operator=(const connection &) = delete;

    /// Waits until there are some bytes, and gives how many it has put into `into`: 0 at the end of the input.
    io_result<std::size_t> receive(std::span<std::byte> into, moment deadline = never) noexcept;

    /// What was received last and not used is received again, before all else. Throws `std::bad_alloc`.
    void put_back(std::span<const std::byte> unused);

    /// Sends all of it. After an error it is not known how much has been sent.
    io_result<void> send(std::string_view bytes, moment deadline = never) noexcept;
    /// As above, the parts one after the other. Changes what `parts` say.
    io_result<void> send(std::span<iovec> parts, moment deadline = never) noexcept;

    /// There is no more to send: the peer comes to the end of its input.
    void end_output() noexcept { through_->end_output(); }

    /// Who is there.
    const address &peer() const noexcept { return peer_; }

    /// The flow has done with it: it goes back to its source, which gives it to another flow when it has more input.
    /// One whose input has come to its end is closed.
    void give_back() noexcept;

    /// Ends it.
    void close() noexcept;

  private:
    friend class connections;

    ~connection() = default;

    // First what each request touches.
    const std::unique_ptr<stream> through_;
    const std::shared_ptr<connections> owner_;
    std::vector<std::byte> unread_;
    std::size_t read_of_unread_ = 0;
    bool ended_ = false;
    // How often its owner has looked at it since a flow gave it back.
    unsigned char quiet_looks_ = 0;
    // It was accepted, and no flow has had it yet.
    bool fresh_ = false;
    // When its owner looks next, and its neighbours in the order of that.
    moment look_at_ = never;
    connection *next_ = nullptr;
    connection *previous_ = nullptr;
    const address peer_;
    const accept_seat seat_;
};

/// When a source gives a new connection: as soon as it is there, or when it has input.
enum class first_given : unsigned char { at_once, with_input };

/// The connections of one source, or of one instance of it.
///
/// What has been idle for long is closed. A request pays nothing for that, not even for the time: each connection is
/// looked at a few times within the limit, whether a flow has it or not, and closed when nobody has used it for so many
/// looks. (As the hands of a clock find pages that nobody uses: F. J. Corbató, "A paging experiment with the Multics
/// system", 1968.)
class connections : public std::enable_shared_from_this<connections>
{
  public:
    /// What is accepted from the listener, which outlives this. A connection is closed when it has been idle for the
    /// limit, or up to a quarter longer. Throws `std::bad_alloc` and `std::system_error`.
    connections(io &through, listener &from, first_given first, std::chrono::milliseconds idle_limit);
    ~connections();
    connections(const connections &) = delete;
    connections &operator=(const connections &) = delete;

    /// Waits for the next connection that has input: for the source alone.
    io_result<connection *> next() noexcept;

    /// The source stops: idle connections are closed, and those that are given back are too.
    void end() noexcept;

  private:
    friend class connection;

    void take_back(connection &unused) noexcept;
    connection *add(arrivals::arrival somebody) noexcept;
    void keep(connection &idle, bool soon) noexcept;
    void look_at_all(moment now) noexcept;
    void append(connection &looked_at, moment now) noexcept;
    void unlink(connection &linked) noexcept;
    void forget(connection &closing) noexcept;
    void served(connection &known) noexcept;
    void close_entrance() noexcept;

    const std::unique_ptr<arrivals> arrivals_;
    const first_given first_given_;
    const moment::duration look_period_;
    io &through_;
    // When to look at the first again, and how many came since the time was last asked for.
    moment look_at_ = never;
    unsigned came_ = 0;
    // On a loop there is never anybody who holds it.
    std::mutex lock_;
    bool ended_ = false;
    bool accepts_ = true;
    // How many are fresh: for the source alone.
    std::size_t fresh_ = 0;
    entrance entrance_;
    // All of them, those that flows have too.
    connection *first_ = nullptr;
    connection *last_ = nullptr;
};

/// A connection to this address, which the caller closes.
io_result<connection *> connect(const address &to, moment deadline = never) noexcept;

} // namespace flux
