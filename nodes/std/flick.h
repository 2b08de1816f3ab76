// The nodes of processes: sources of messages, nodes that send messages on, and nodes for the state of runs.
#pragma once

#include "flick_end.h"
#include "flick_merge.h"
#include "flick_run.h"
#include "flick_shared.h"
#include "flick_watch.h"

#include "flux/connection.hpp"
#include "flux/error.hpp"
#include "flux/message/typed_parse.hpp"
#include "flux/reading.hpp"

#include <any>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <shared_mutex>

namespace flick {

/// The time limits of a source of messages, and the permissions of its Unix socket. A time of 0 means no limit.
struct limits {
    milliseconds idle;
    milliseconds first_byte;
    milliseconds message;
    milliseconds request;
    const char *unix_mode;
};

/// A channel of a process: its number, the text of its binding, and the file of bindings. The file applies if the text
/// is empty.
struct bound_channel {
    const char *process;
    std::size_t number;
    const char *binding;
    const char *bindings;
};

/// Works like the node `NextMessage`, and parses the whole message with `into`. Fails with EPERM outside a source, like
/// every node that begins flows.
int next_message(const limits &of, const bound_channel &channel, flux::connection *&connection, instance &self,
                 flux::message_parse &into);

/// Records that a message of this size has arrived on the connection. Returns whether the message is for `self`. If it
/// is, the flow keeps the connection, unless runs share it. Otherwise no run wants the message, for example after the
/// client's last request, and the flow no longer has the connection. Throws `std::bad_alloc`.
bool came(instance &self, flux::connection &connection, message_role as, std::size_t size);

/// Works like the node `Pass`, but sends bytes as they arrive, and not message by message.
int pass_bytes(std::size_t to, milliseconds limit, const char *servers, flux::connection &connection, end &from);
/// Sends all bytes that arrive on the connection to `to`, up to the end of the input. The flow then no longer has the
/// connection. The connection limits each wait for its peer; the flow has no deadline.
int relay_all(flux::connection &connection, end &from, end &to);
/// Ends a flow that has passed its input on: gives the connection back. If the client expects no reply and sends
/// nothing more, ends its input instead.
int end_pass(flux::connection &connection, end &from);

/// A place for state that all instances share. A flow holds the lock while it copies a value in or out.
struct shared_state {
    std::shared_mutex lock;
    std::any value;
};

/// The shared state at this place.
shared_state &global_state(std::size_t place);

/// The node `NextMessage` for messages of this class.
template <class Message>
int NextMessage(const char *bindings, long idle_ms, long first_byte_ms, long message_ms, long request_ms,
                const char *unix_mode, const char *process, std::size_t channel, const char *binding,
                flux::connection *&connection, instance &self, Message &message)
{
    const limits of{milliseconds(idle_ms), milliseconds(first_byte_ms), milliseconds(message_ms),
                    milliseconds(request_ms), unix_mode};
    while (true) {
        flux::typed_parse<Message> parse;
        if (const int error = next_message(of, {process, channel, binding, bindings}, connection, self, parse)) {
            return error;
        }
        message = parse.message();
        if (came(self, *connection, role_of(message), message.wire().size())) {
            return 0;
        }
    }
}

/// The node `NextBatch` for messages of this class. The flow then passes on this message and the messages behind it.
template <class Message>
int NextBatch(const char *bindings, long idle_ms, long first_byte_ms, long message_ms, long request_ms,
              const char *unix_mode, const char *process, std::size_t channel, const char *binding,
              flux::connection *&connection, instance &self, Message &message)
{
    const limits of{milliseconds(idle_ms), milliseconds(first_byte_ms), milliseconds(message_ms),
                    milliseconds(request_ms), unix_mode};
    flux::typed_parse<Message> parse;
    const int error = next_message(of, {process, channel, binding, bindings}, connection, self, parse);
    if (error == 0) {
        message = parse.message();
    }
    return error;
}

/// Sends `last` on, and the whole messages that have arrived behind it. If the receiving client has left, `to` is null,
/// and the function drops the messages.
template <class Message>
int pass_messages(end *to, flux::connection &connection, end &from, Message &last)
{
    flux::io_result<bool> more = true;
    while (more.has_value() && *more) {
        from.has_input();
        if (from.has_asked_last()) {
            from.end_input(connection);
            return 0;
        }
        from.came(role_of(last));
        if (const int error = from.await_order(); error != 0) {
            return error;
        }
        const bool is_wanted = to != nullptr && !from.is_of_part();
        if (from.is_over() || (is_wanted && !to->send(request{last}).has_value() && !to->accepted())) {
            return flux::take(connection.close());
        }
        if (from.is_switched()) {
            if (to == nullptr || !to->accepted()) {
                return flux::take(connection.close());
            }
            from.begin_tunnel(*to);
            return relay_all(connection, from, *to);
        }
        from.passed_on();
        flux::typed_parse<Message> parse;
        more = from.counts() ? connection.receive_unread(parse) : flux::io_result<bool>(false);
        if (more.has_value() && *more) {
            last = parse.message();
        }
    }
    return more.has_value() ? end_pass(connection, from) : more.error();
}

/// Works like `pass_messages`, for a connection that runs share.
template <class Message>
int pass_shared(std::size_t to, flux::connection &connection, shared_connection &from, Message &last)
{
    const std::shared_ptr<shared_connection> stays = from.shared_from_this();
    while (true) {
        from.pass_on(role_of(last), to, last);
        flux::typed_parse<Message> parse;
        const flux::io_result<bool> more = connection.receive_unread(parse);
        if (!more.has_value()) {
            from.failed(more.error(), parse);
            connection.close();
            return more.error();
        }
        if (!*more) {
            return flux::take(connection.give_back());
        }
        last = parse.message();
    }
}

/// Works like `pass_messages`, for a shared connection or one of the run's own.
template <class Message>
int pass_all(milliseconds limit, const char *servers, std::size_t to, flux::connection &connection,
             const instance &self, Message &last)
{
    if (self.through != nullptr) {
        return pass_shared(to, connection, *self.through, last);
    }
    if (const int error = self.of().await_passed_on(*self.from); error != 0) {
        return error;
    }
    const auto there = self.of().reach(to, 0, limit, servers);
    return there.has_value() ? pass_messages((*there).get(), connection, *self.from, last) : there.error();
}

/// The node `PassBatch` for messages of this class.
template <class Message>
int PassBatch(long connect_ms, const char *servers, std::size_t to, flux::connection *connection,
              const instance &self, const Message &message, Message &last)
{
    last = message;
    return pass_all(milliseconds(connect_ms), servers, to, *connection, self, last);
}

/// The node `Pass` for messages of this class. It passes messages on if the end counts replies, and bytes otherwise.
template <class Message>
int Pass(long connect_ms, const char *servers, std::size_t to, flux::connection *connection, const instance &self,
         Message &last)
{
    if (self.through == nullptr && !self.from->counts()) {
        return pass_bytes(to, milliseconds(connect_ms), servers, *connection, *self.from);
    }
    flux::typed_parse<Message> parse;
    const flux::io_result<void> read = connection->receive_message(parse);
    if (read.has_value()) {
        last = parse.message();
        return pass_all(milliseconds(connect_ms), servers, to, *connection, self, last);
    }
    const bool has_ended = read.error() == ENODATA || read.error() == flux::end_of_input;
    if (self.through != nullptr) {
        has_ended ? void() : self.through->failed(read.error(), parse);
        connection->close();
    } else if (has_ended) {
        self.from->end_input(*connection);
    }
    return has_ended ? 0 : read.error();
}

/// The value in `place`, or `first` if the place is empty. The function stores nothing, because several flows may read
/// the place at the same time.
template <class Value>
const Value &loaded(const std::any &place, const Value &first)
{
    return place.has_value() ? *std::any_cast<Value>(&place) : first;
}

/// The nodes `Load`, `Store`, `LoadGlobal` and `StoreGlobal`.
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
    shared_state &there = global_state(place);
    const std::shared_lock together(there.lock);
    value = loaded(there.value, first);
    return 0;
}
template <class Value>
int StoreGlobal(std::size_t place, const instance &, const Value &value)
{
    shared_state &there = global_state(place);
    const std::lock_guard alone(there.lock);
    there.value = value;
    return 0;
}

} // namespace flick
