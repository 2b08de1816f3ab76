// Subscriptions. Each node holds the constraint `subscribers`: who only publishes or asks, as a reader.

#include "channels.flux.h"

#include "flux/feed.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <iterator>
#include <map>
#include <memory>

namespace channels {
namespace {

/// The feeds of those who have subscribed, by channels.
std::map<std::string, std::vector<std::shared_ptr<flux::feed>>> subscribers;

/// Whether feeds have ended since it was last looked for these.
std::atomic<bool> some_have_ended{false};

/// What one connection has subscribed to.
struct subscriptions {
    std::vector<std::string> channels;

    ~subscriptions()
    {
        if (!channels.empty()) {
            some_have_ended.store(true, std::memory_order_relaxed);
        }
    }
};

} // namespace

int Deliver()
{
    return flux::feeds::of_running_io().deliver();
}

int Join(std::size_t backlog, const std::string &channel, const flux::message &reply, flux::connection *connection,
         flux::connection *&same)
{
    same = connection;
    auto *const own = connection == nullptr ? nullptr : connection->state<subscriptions>();
    if (own == nullptr) {
        return EBADF;
    }
    const std::shared_ptr<flux::feed> feed = connection->open_feed(backlog);
    if (!feed->put(reply.wire())) {
        return ECONNRESET;
    }
    if (std::find(own->channels.begin(), own->channels.end(), channel) == own->channels.end()) {
        subscribers[channel].push_back(feed);
        own->channels.push_back(channel);
    }
    return 0;
}

int Unsubscribe(const std::string &channel, flux::connection *connection, flux::connection *&same)
{
    same = connection;
    auto *const own = connection == nullptr ? nullptr : connection->state<subscriptions>();
    if (own == nullptr) {
        return EBADF;
    }
    const auto of = subscribers.find(channel);
    if (std::erase(own->channels, channel) != 0 && of != subscribers.end()) {
        const std::shared_ptr<flux::feed> feed = connection->open_feed(0);
        std::erase(of->second, feed);
        if (of->second.empty()) {
            subscribers.erase(of);
        }
    }
    return 0;
}

int Subscriptions(flux::connection *connection, flux::connection *&same, std::vector<std::string> &channels)
{
    same = connection;
    auto *const own = connection == nullptr ? nullptr : connection->state<subscriptions>();
    if (own == nullptr) {
        return EBADF;
    }
    channels = own->channels;
    return 0;
}

void Publish(const std::string &channel, const flux::message &content, std::int64_t &receivers)
{
    receivers = 0;
    if (const auto of = subscribers.find(channel); of != subscribers.end()) {
        for (const std::shared_ptr<flux::feed> &each : of->second) {
            receivers += each->put(content.wire()) ? 1 : 0;
        }
    }
}

void Listeners(const std::string &channel, std::int64_t &listeners)
{
    const auto of = subscribers.find(channel);
    listeners = of == subscribers.end() ? 0 : static_cast<std::int64_t>(of->second.size());
}

void Tidy()
{
    if (!some_have_ended.exchange(false, std::memory_order_relaxed)) {
        return;
    }
    for (auto at = subscribers.begin(); at != subscribers.end();) {
        std::erase_if(at->second, [](const auto &each) { return !each->is_open(); });
        at = at->second.empty() ? subscribers.erase(at) : std::next(at);
    }
}

} // namespace channels
