// The predicates of the chat.
#pragma once

#include "udp.h"

#include <string>
#include <vector>

/// Whether a message asks to join the room, or to leave it.
bool IsJoin(const std::string &bytes);
bool IsLeave(const std::string &bytes);

/// The session of a message: flows of one room have the same. From 1 on.
int RoomOf(const udp::peer &peer, const std::string &bytes);
