/// \file
/// The connections of a source: the idle ones, and those that flows have. This header is for nodes that are such
/// sources; what other nodes do with a connection is in `connection.hpp`.
#pragma once

#include "flux/connection.hpp"
#include "flux/io/multiplexer.hpp"
#include "flux/io/server_io.hpp"
#include "flux/io/stream_layer.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace flux {

/// When a source gives a new connection: as soon as it is there, or when it has input.
enum class first_given : unsigned char { at_once, with_input };

/// How long clients may be silent; 0 stands for no limit.
struct silence_limits {
    /// Between two requests.
    std::chrono::milliseconds idle{0};
    /// Before the first byte of the first one, where the source gives connections with input. Within a message, too.
    std::chrono::milliseconds first_byte{0};
    /// From the first byte of a message to its last, where the source gives messages.
    std::chrono::milliseconds message{0};
};

/// What clients are told that are sent away.
class last_words
{
  public:
    /// To one that has sent bytes that are no message (EBADMSG), or of one only the beginning in time (ETIMEDOUT), or
    /// one that there is no memory to read (ENOMEM), of which nothing is known. Valid until the next call.
    virtual std::string_view to(const connection &bad, int error, const message_parse &wanted) noexcept = 0;

  protected:
    ~last_words() = default;
};

/// The connections of one source, or of one instance of it.
///
/// What has been idle for long is closed. A request pays nothing for that, not even for the time: each connection is
/// looked at a few times within the limit, whether a flow has it or not, and closed when nobody has used it for so many
/// looks. (As the hands of a clock find pages that nobody uses: F. J. Corbató, "A paging experiment with the Multics
/// system", 1968.)
///
/// Where the source gives messages it receives them itself. A connection on which half a message has come stays with
/// the source, so a client that is slow costs no flow.
class connections final : public connection_home, public std::enable_shared_from_this<connections>
{
  public:
    /// What is accepted from the listener, which outlives this. A connection is closed when it has been silent for its
    /// limit, or longer by up to a quarter of the shortest one. Where there is a layer, which stays, the streams are of
    /// that. Throws `std::bad_alloc` and `std::system_error`.
    connections(io &through, listener &from, first_given first, silence_limits limits, stream_layer *layer = nullptr);
    /// Those that flows of the same loop make, and that are adopted.
    connections(io &through, silence_limits limits);
    ~connections() override;

    /// The calling flow has made it, on the same loop, and it has no home yet: it is one of these from now on, so that
    /// `next` gives its messages when it has been given back.
    void adopt(connection &made) noexcept;

    /// Waits for the next connection that has input: for the source alone. Fails with ETIMEDOUT where the time of the
    /// source's own flow is over, as all that wait here do.
    io_result<connection *> next() noexcept;

    /// Waits for so many new connections, which belong together: where the source is on several loops, no other
    /// instance accepts any in between. They are added to the group, also those that came before an error. Fails with
    /// `end_of_input` where some have come, and nobody new comes any more: those whom the next server can have are with
    /// that then, and not in the group. For a source alone that gives new ones at once, and to which none is given
    /// back. Throws `std::bad_alloc`.
    io_result<void> next_group(std::size_t size, std::vector<connection *> &group);

    /// Waits for the next message on any connection, and gives that connection: for the source alone. `into` is to be
    /// read at its beginning, and is whole then. A connection is closed where its bytes are no such message, and where
    /// its message takes longer than the limit; the first is logged, and both are counted as failures of the node that
    /// calls this. Before that they are told the last words, where there are some: an object that stays.
    ///
    /// Where the first bytes of a connection begin the `other` protocol, that carries it from then on. Gives null each
    /// time after something has come there.
    ///
    /// Those that nothing carries yet are looked at by `first`, if that is there, before their messages are read.
    io_result<connection *> next(message_parse &into, last_words *told = nullptr, other_protocol *other = nullptr,
                                 first_look *first = nullptr) noexcept;

    /// The source stops: idle connections are closed, and those that are given back are too.
    void end() noexcept;

  private:
    friend class connection;

    std::unique_lock<std::mutex> alone_here() noexcept;
    io_result<connection *> next_with_input(bool receives) noexcept;
    int rest() noexcept;
    bool has_bytes(connection &of) noexcept;
    bool has_whole(connection &of, message_parse &into) noexcept;
    bool is_whole(connection &of, message_parse &into, io_result<connection::progress> come, bool late) noexcept;
    bool is_late(const connection &on, moment now) const noexcept;
    bool refuse(connection &bad, int error, const message_parse &wanted) noexcept;
    void end_carried(connection &ending, int error, const message_parse &wanted) noexcept;
    bool speaks_other(connection &on, const message_parse &wanted) noexcept;
    void carry(connection &on) noexcept;
    static bool leaves(connection &ending, bool stops) noexcept;
    void pass_over(connection &leaving) noexcept;
    void take_back(connection &unused) noexcept override;
    connection *add(arrivals::newcomer somebody) noexcept;
    void keep(connection &idle, bool soon) noexcept;
    void look_at_all(moment now) noexcept;
    void tell_late(connection &late) noexcept;
    void append(connection &looked_at, moment now) noexcept;
    void forget(connection &closing) noexcept override;
    void await_request(connection &of) noexcept;
    void served(connection &known) noexcept;
    void close_entrance() noexcept;
    bool may_pass_on(const connection &idle) const noexcept;
    bool pass_on(connection &idle) noexcept;
    void pass_on_idle() noexcept;
    void pass_on_group(std::vector<connection *> &group) noexcept;

    const std::unique_ptr<arrivals> arrivals_;
    const first_given first_given_;
    const moment::duration look_period_;
    // After so many looks at one that nobody has used meanwhile, it is closed.
    const unsigned idle_looks_;
    const unsigned fresh_looks_;
    const std::chrono::milliseconds message_limit_;
    stream_layer *const layer_;
    io &through_;
    last_words *told_ = nullptr;
    other_protocol *other_ = nullptr;
    // Whether what has input is carried by something else.
    bool is_carried_ = false;
    // Whether all who use it are of one thread.
    const bool on_loop_;
    // When to look at the first again, and how many came since the time was last asked for.
    moment look_at_ = never;
    // Whether others make them: then any may be the first, while the source waits.
    const bool adopts_ = false;
    unsigned came_ = 0;
    // On a loop: whether the source waits; and the connection that it gives next, as it has asked more already, and how
    // many requests of that one were in a row.
    bool waits_ = false;
    connection *asks_more_ = nullptr;
    unsigned in_a_row_ = 1;
    // Of nobody on a loop.
    std::mutex lock_;
    bool ended_ = false;
    bool accepts_ = true;
    // The source waits for new ones alone, and not when there are none any more.
    bool ends_with_entrance_ = false;
    // How many are fresh.
    std::size_t fresh_ = 0;
    const std::shared_ptr<accepting> entrances_ = current_part(&server_io::entrances);
    entrance entrance_{entrances_};
    // Where those were accepted that are passed on to another server.
    const std::optional<address> at_;
    // All of them, those that flows have too, in the order in which they are looked at.
    intrusive_list<connection> all_;
};

} // namespace flux
