// The nodes of notes.flux.
#include "notes.flux.h"

#include "tcp.h"

#include "flux/message/bytes.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>

namespace {

constexpr long limit_ms = 10'000;

/// Whether there is no memory for the next bytes of a message.
std::atomic<bool> lacks = false;

const bool may_lack = [] {
    flux::message_bytes::let_fail([]() noexcept { return lacks.exchange(false); });
    return true;
}();

note shout(const note &said)
{
    std::string text(said.text());
    std::ranges::transform(text, text.begin(), [](unsigned char each) { return std::toupper(each); });
    return note::of(text);
}

} // namespace

int Next(Next_in *in, Next_out *out)
{
    return tcp::Messages(in->at, in->idle_ms, in->idle_ms, in->message_ms, limit_ms, "", out->connection, out->message);
}

bool AsksMore(note message)
{
    return message.text() == "more";
}

int ReadSecond(ReadSecond_in *in, ReadSecond_out *out)
{
    return tcp::ReadMessage(in->connection, out->connection, out->message);
}

bool IsQuestion(note message)
{
    return message.text().ends_with('?');
}

int Ask(Ask_in *in, Ask_out *out)
{
    out->connection = in->connection;
    note reply;
    const note question = note::of(in->message.text().substr(0, in->message.text().size() - 1));
    const int error =
        upstream::Exchange(2, 2, limit_ms, limit_ms, limit_ms, 1, false, "", in->upstream, question, reply);
    out->reply = reply;
    return error;
}

int Shout(Shout_in *in, Shout_out *out)
{
    out->connection = in->connection;
    out->reply = shout(in->message);
    return 0;
}

int NextDatagram(NextDatagram_in *in, NextDatagram_out *out)
{
    return udp::NextMessage(limit_ms, in->at, out->peer, out->message);
}

int ShoutBack(ShoutBack_in *in, ShoutBack_out *out)
{
    out->peer = in->peer;
    out->reply = shout(in->message);
    lacks = in->message.text() == "lack";
    return 0;
}
