// Instances of processes, and their channels. All of an instance is on one event loop, so nothing here has a lock.
//
// An `end` is what an instance has of one connection. What its peer sends is read by the source of the channel, a flow
// for each message; what other flows of the instance send there goes through the end, one message after the other, and
// a flow waits where there is no room. So a connection that nobody reads slows down who sends there, and nobody else.
//
// An end that is `left` by the source, as its connection is over, stays until the last flow that sends there has left
// it too, and that one closes the connection.
#pragma once

#include "flux/connection.hpp"
#include "flux/io/multiplexer.hpp"
#include "flux/io/park.hpp"
#include "flux/list/intrusive_list.hpp"
#include "flux/message.hpp"
#include "flux/log.hpp"
#include "flux/message/typed_parse.hpp"
#include "flux/reading.hpp"

#include <algorithm>
#include <any>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace flick {

using std::chrono::milliseconds;

class end;
class process;
class run;
struct waiting_flow;

/// One run of a process, as nodes have it: by the end from which the message came that is at work.
struct instance {
    end *from = nullptr;
    // The run itself, where no message is at work.
    std::shared_ptr<run> all;

    run &of() const noexcept;
    /// A number of it, as part of a key: its local state is held by it.
    std::uint64_t hash() const noexcept { return reinterpret_cast<std::uintptr_t>(&of()); }
};

/// One run of a process.
class run : public std::enable_shared_from_this<run>
{
  public:
    explicit run(process &of);
    run(const run &) = delete;

    /// The end of a channel, which is connected first where it is one that connects. Null where there is none: the
    /// client has left. Throws `std::bad_alloc`.
    flux::io_result<std::shared_ptr<end>> reach(std::size_t channel, std::size_t element, milliseconds limit,
                                                const char *servers);

    /// That of a channel at this index; null where it is not connected.
    end *at(std::size_t channel, std::size_t element) const noexcept;

    /// A client that others wait for, too; the calling flow has its connection.
    void join(flux::connection &one) { joined_.push_back(&one); }
    const std::vector<flux::connection *> &joined() const noexcept { return joined_; }

    /// An end is there.
    void add(end &made);
    /// It sends no more.
    void input_ended(end &of) noexcept;
    /// It is of no more use.
    void lost(end &of) noexcept;
    /// It is gone.
    void forget(end &gone) noexcept;

    process &of() const noexcept { return of_; }

    /// The state at this place.
    std::any &state(std::size_t place)
    {
        state_.resize(std::max(state_.size(), place + 1));
        return state_[place];
    }

  private:
    // An element of an array, or a channel that is in none.
    struct place {
        end *there = nullptr;
        bool is_connecting = false;
        // It was there, and has ended what it sends.
        bool has_ended = false;
    };

    flux::io_result<std::shared_ptr<end>> connect(std::size_t channel, std::size_t element, milliseconds limit,
                                                  const char *servers);
    void wake_all() noexcept;
    bool has_ended(std::size_t channel, std::size_t depth) const noexcept;
    void finish_all() noexcept;

    process &of_;
    // By channel, and by element.
    std::vector<std::vector<place>> places_;
    std::vector<std::any> state_;
    std::vector<flux::connection *> joined_;
    // Flows that wait for a connection that another makes.
    flux::intrusive_list<waiting_flow> waiting_;
    bool is_over_ = false;
};

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

  private:
    struct turn;

    template <class Send>
    flux::io_result<void> in_turn(Send send) noexcept;
    flux::io_result<void> send_alone(const flux::message &what) noexcept;
    flux::io_result<bool> relay_alone(flux::connection &from) noexcept;
    flux::io_result<void> await_turn() noexcept;
    void pass_turn() noexcept;
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
};

inline run &instance::of() const noexcept
{
    return all == nullptr ? from->of() : *all;
}

/// How long things may take, of a source of messages. A time of 0 is no limit.
struct limits {
    milliseconds idle;
    milliseconds first_byte;
    milliseconds message;
    milliseconds request;
    const char *unix_mode;
};

/// As the node `NextMessage`: `into` is whole then.
int next_message(const limits &of, const char *process, std::size_t channel, const char *binding,
                 flux::connection *&connection, instance &self, flux::message_parse &into);

/// What all instances share at this place.
std::any &global_state(std::size_t place);

/// The node of that name for messages of this class.
template <class Message>
int NextMessage(long idle_ms, long first_byte_ms, long message_ms, long request_ms, const char *unix_mode,
                const char *process, std::size_t channel, const char *binding, flux::connection *&connection,
                instance &self, Message &message)
{
    flux::typed_parse<Message> parse;
    const limits of{milliseconds(idle_ms), milliseconds(first_byte_ms), milliseconds(message_ms),
                    milliseconds(request_ms), unix_mode};
    const int error = next_message(of, process, channel, binding, connection, self, parse);
    if (error == 0) {
        message = parse.message();
    }
    return error;
}

/// What is in `place`, or `first` where nothing is. It stores nothing: there may be several who read.
template <class Value>
const Value &loaded(const std::any &place, const Value &first)
{
    return place.has_value() ? *std::any_cast<Value>(&place) : first;
}

/// The nodes of these names.
template <class Value>
int Load(std::size_t place, const instance &self, const Value &first, Value &value)
{
    value = loaded(self.of().state(place), first);
    return 0;
}
template <class Value>
int Store(std::size_t place, const instance &self, const Value &value)
{
    self.of().state(place) = value;
    return 0;
}
template <class Value>
int LoadGlobal(std::size_t place, const instance &, const Value &first, Value &value)
{
    value = loaded(global_state(place), first);
    return 0;
}
template <class Value>
int StoreGlobal(std::size_t place, const instance &, const Value &value)
{
    global_state(place) = value;
    return 0;
}

/// What comes of a client that sends elements in the order of their keys.
template <class Message, auto key>
class sorted_input
{
  public:
    using key_type = decltype(key(std::declval<const Message &>()));

    explicit sorted_input(flux::connection &from) noexcept : from_(from) {}

    /// The next element, if there is one. Fails with EBADMSG where that is not sorted, and as receiving does.
    flux::io_result<bool> next()
    {
        flux::typed_parse<Message> parse;
        if (const flux::io_result<void> read = from_.receive_message(parse); !read.has_value()) {
            if (read.error() == flux::end_of_input) {
                return false;
            }
            if (read.error() == EBADMSG) {
                flux::log_wrong_message(from_.peer(), parse);
            }
            return flux::unexpected(read.error());
        }
        element = parse.message();
        key_type after = key(element);
        if (has_begun_ && after < at) {
            flux::log_line("what %s sends is not sorted", from_.peer().text().c_str());
            return flux::unexpected(EBADMSG);
        }
        has_begun_ = true;
        at = std::move(after);
        return true;
    }

    /// Whether the next element is here already, or a part of it.
    bool has_more() const noexcept { return from_.has_unread(); }

    Message element;
    key_type at{};

  private:
    flux::connection &from_;
    bool has_begun_ = false;
};

/// Sends bytes together.
class gathered_output
{
  public:
    explicit gathered_output(end &to) : to_(to) { bytes_.reserve(most); }

    flux::io_result<void> add(std::string_view bytes)
    {
        bytes_ += bytes;
        return bytes_.size() < most ? flux::io_result<void>() : flush();
    }

    flux::io_result<void> flush()
    {
        const flux::io_result<void> sent = bytes_.empty() ? flux::io_result<void>() : to_.send(bytes_);
        bytes_.clear();
        return sent;
    }

  private:
    static constexpr std::size_t most = std::size_t{64} << 10;

    end &to_;
    std::string bytes_;
};

/// Merges sorted inputs. Those that have an element are in a heap by its key, and then by their number, so that
/// elements of one key are joined in the order of the inputs. (D. E. Knuth, The Art of Computer Programming 3, 5.4.1.)
template <class Message, auto key, auto combine>
flux::io_result<void> merge(std::vector<sorted_input<Message, key>> &inputs, gathered_output &out, Message &last)
{
    std::vector<std::size_t> heap;
    const auto is_later = [&](std::size_t one, std::size_t other) {
        return inputs[other].at < inputs[one].at || (!(inputs[one].at < inputs[other].at) && other < one);
    };
    const auto advance = [&](std::size_t one) -> flux::io_result<void> {
        if (!inputs[one].has_more()) {
            // It may be long until it goes on.
            if (const flux::io_result<void> sent = out.flush(); !sent.has_value()) {
                return sent;
            }
        }
        const flux::io_result<bool> there = inputs[one].next();
        if (!there.has_value()) {
            return flux::unexpected(there.error());
        }
        if (*there) {
            heap.push_back(one);
            std::push_heap(heap.begin(), heap.end(), is_later);
        }
        return {};
    };
    for (std::size_t each = 0; each != inputs.size(); ++each) {
        if (const flux::io_result<void> begun = advance(each); !begun.has_value()) {
            return begun;
        }
    }
    while (!heap.empty()) {
        const std::size_t first = heap.front();
        const auto at = inputs[first].at;
        Message made = std::move(inputs[first].element);
        std::size_t taken = first;
        while (true) {
            std::pop_heap(heap.begin(), heap.end(), is_later);
            heap.pop_back();
            if (const flux::io_result<void> advanced = advance(taken); !advanced.has_value()) {
                return advanced;
            }
            if (heap.empty() || at < inputs[heap.front()].at) {
                break;
            }
            taken = heap.front();
            made = combine(made, inputs[taken].element, at);
        }
        last = std::move(made);
        if (const flux::io_result<void> added = out.add(last.wire()); !added.has_value()) {
            return added;
        }
    }
    return out.flush();
}

/// The node of that name.
template <class Message, auto key, auto combine>
int Merge(std::size_t, std::size_t to, long connect_ms, const char *servers, const instance &self, Message &last)
{
    const auto there = self.of().reach(to, 0, milliseconds(connect_ms), servers);
    if (!there.has_value() || *there == nullptr) {
        return there.has_value() ? ECONNRESET : there.error();
    }
    std::vector<sorted_input<Message, key>> inputs;
    for (flux::connection *const each : self.of().joined()) {
        inputs.emplace_back(*each);
    }
    gathered_output out(**there);
    const flux::io_result<void> merged = merge<Message, key, combine>(inputs, out, last);
    (*there)->finish();
    return flux::take(merged);
}

} // namespace flick
