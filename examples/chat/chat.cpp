// The nodes of chat.flux. Nothing here takes a lock: chat.flux says which nodes share a room.
#include "chat.flux.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>

namespace {

constexpr std::size_t session_count = 1024;

/// The members of the rooms that share a session, by the host that they are behind.
using rooms = std::map<std::string, std::vector<udp::peer>>;

/// A session has one element, and its flows alone touch that.
std::array<rooms, session_count> all_rooms;

std::string host_of(const udp::peer &peer)
{
    const std::string text = peer.at.text();
    return text.substr(0, text.rfind(':'));
}

std::size_t session_of(const std::string &host)
{
    return std::hash<std::string>()(host) % session_count;
}

std::vector<udp::peer> &room_of(const udp::peer &peer)
{
    const std::string host = host_of(peer);
    return all_rooms[session_of(host)][host];
}

std::string word(const std::string &bytes)
{
    return bytes.substr(0, bytes.find_last_not_of(" \r\n") + 1);
}

auto is(const udp::peer &sought)
{
    return [port = sought.at.port()](const udp::peer &each) { return each.at.port() == port; };
}

} // namespace

bool IsJoin(const std::string &bytes)
{
    return word(bytes) == "join";
}

bool IsLeave(const std::string &bytes)
{
    return word(bytes) == "leave";
}

int RoomOf(const udp::peer &peer, const std::string &)
{
    return static_cast<int>(session_of(host_of(peer))) + 1;
}

int Enter(Enter_in *in)
{
    std::vector<udp::peer> &room = room_of(in->peer);
    if (std::none_of(room.begin(), room.end(), is(in->peer))) {
        room.push_back(in->peer);
    }
    return 0;
}

int Leave(Leave_in *in)
{
    std::vector<udp::peer> &room = room_of(in->peer);
    room.erase(std::remove_if(room.begin(), room.end(), is(in->peer)), room.end());
    return 0;
}

int Say(Say_in *in, Say_out *out)
{
    const std::string host = host_of(in->peer);
    const rooms &of_session = all_rooms[session_of(host)];
    const auto room = of_session.find(host);
    if (room != of_session.end()) {
        std::remove_copy_if(room->second.begin(), room->second.end(), std::back_inserter(out->others), is(in->peer));
    }
    return 0;
}

int Deliver(Deliver_in *in)
{
    for (const udp::peer &each : in->others) {
        // Through the socket of this flow, whose port all know. Who is gone misses it.
        (void)in->peer.through->send(std::as_bytes(std::span(in->bytes)), each.at);
    }
    return 0;
}
