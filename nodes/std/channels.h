// The functions of the nodes of channels.
#pragma once

#include "flux/connection.hpp"
#include "flux/message.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace channels {

int Deliver();
int Join(std::size_t backlog, const std::string &channel, const flux::message &reply, flux::connection *connection,
         flux::connection *&same);
int Unsubscribe(const std::string &channel, flux::connection *connection, flux::connection *&same);
int Subscriptions(flux::connection *connection, flux::connection *&same, std::vector<std::string> &channels);
void Publish(const std::string &channel, const flux::message &content, std::int64_t &receivers);
void Listeners(const std::string &channel, std::int64_t &listeners);
void Tidy();

} // namespace channels
