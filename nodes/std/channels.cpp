// Subscriptions, in one table with a lock of its own, because C++ calls these functions without any constraint. A flow
// that publishes or asks shares the lock with others like it.
//
// A flow with the lock waits for nothing: it puts bytes into feeds, which have locks of their own below this one. No
// feed calls back. So the lock cannot be part of a deadlock, whatever constraints its holders have.

#include "channels.flux.h"

#include "flux/constraint/lock.hpp"
#include "flux/feed.hpp"
#include "flux/flow/flow.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <iterator>
#include <map>
#include <memory>

namespace channels {
namespace {

/// The feeds of those who have subscribed, by channels; and the lock that guards them. It also guards what a connection
/// has subscribed to, and the opening of its feed.
std::map<std::string, std::vector<std::shared_ptr<flux::feed>>> subscribers;
constinit flux::lock subscribers_lock;

/// The calling flow holds the lock from here to the end of the block.
class locked_subscribers
{
  public:
    explicit locked_subscribers(flux::mode how) noexcept : lock_(subscribers_lock, how, flux::running_flow->place()) {}

  private:
    flux::locked lock_;
};

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

/// Those of this connection; null if the caller does not own it. The caller has the lock for writing: the first call
/// makes them, and the branches of a flow share its connection.
subscriptions *subscriptions_of(flux::connection *connection)
{
    return connection == nullptr ? nullptr : connection->state<subscriptions>();
}

} // namespace

int Deliver()
{
    if (flux::running_flow->in_progress()) {
        return EPERM;
    }
    return flux::feeds::of_running_io().deliver();
}

int Join(std::size_t backlog, const std::string &channel, const flux::message &reply, flux::connection *connection,
         flux::connection *&same)
{
    same = connection;
    // From before the reply until the feed is listed: who has read the reply is sent all that is published from then
    // on, and nothing before it.
    const locked_subscribers alone(flux::mode::write);
    auto *const own = subscriptions_of(connection);
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
    const locked_subscribers alone(flux::mode::write);
    auto *const own = subscriptions_of(connection);
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
    const locked_subscribers alone(flux::mode::write);
    const auto *const own = subscriptions_of(connection);
    if (own == nullptr) {
        return EBADF;
    }
    channels = own->channels;
    return 0;
}

void Publish(const std::string &channel, const flux::message &content, std::int64_t &receivers)
{
    receivers = 0;
    const locked_subscribers shared(flux::mode::read);
    if (const auto of = subscribers.find(channel); of != subscribers.end()) {
        for (const std::shared_ptr<flux::feed> &each : of->second) {
            receivers += each->put(content.wire()) ? 1 : 0;
        }
    }
}

void Listeners(const std::string &channel, std::int64_t &listeners)
{
    const locked_subscribers shared(flux::mode::read);
    const auto of = subscribers.find(channel);
    listeners = of == subscribers.end() ? 0 : static_cast<std::int64_t>(of->second.size());
}

void Tidy()
{
    if (!some_have_ended.exchange(false, std::memory_order_relaxed)) {
        return;
    }
    const locked_subscribers alone(flux::mode::write);
    for (auto at = subscribers.begin(); at != subscribers.end();) {
        std::erase_if(at->second, [](const auto &each) { return !each->is_open(); });
        at = at->second.empty() ? subscribers.erase(at) : std::next(at);
    }
}

} // namespace channels
