// The nodes of processes: where their messages come from, what is sent where, and their state.
#pragma once

#include "flick_end.h"
#include "flick_merge.h"
#include "flick_run.h"

#include "flux/connection.hpp"
#include "flux/message/typed_parse.hpp"

#include <any>
#include <chrono>
#include <cstddef>

namespace flick {

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

} // namespace flick
