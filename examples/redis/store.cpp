// The items in memory. Whoever calls what has a shard holds the constraint of that shard.

#include "redis.flux.h"

#include "flux/io.hpp"
#include "flux/text_hash.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace {

/// Some of the items, and which of them expire, the first first.
struct shard_of_items {
    std::unordered_map<std::string, item, flux::secret_text_hash, std::equal_to<>> items;
    std::set<std::pair<std::int64_t, std::string>> expiring;

    void forget_time(const std::string &key, const item &of)
    {
        if (of.expires != 0) {
            expiring.erase({of.expires, key});
        }
    }
};

/// More than there are processors, so that commands seldom wait for each other.
std::array<shard_of_items, 64> shards;

// When the clock of the server began, as the time of Unix. Like redis-server, the server refuses times to live that
// overflow in milliseconds since 1970.
const auto clock_begin = std::chrono::floor<std::chrono::milliseconds>(
    std::chrono::system_clock::now().time_since_epoch() - flux::clock::now().time_since_epoch());

std::int64_t now()
{
    using std::chrono::duration_cast, std::chrono::milliseconds;
    return duration_cast<milliseconds>(clock_begin + flux::running_io().last_look().time_since_epoch()).count();
}

std::atomic<std::int64_t> clients = 0;

} // namespace

void Shard(const resp::word &key, std::uint32_t &shard)
{
    shard = static_cast<std::uint32_t>(flux::secret_text_hash()(key.content()) % shards.size());
}

void Shards(std::vector<std::uint32_t> &all)
{
    for (std::uint32_t shard = 0; shard < shards.size(); ++shard) {
        all.push_back(shard);
    }
}

void Find(const resp::word &key, std::uint32_t shard, std::optional<item> &found)
{
    const auto &items = shards[shard].items;
    if (const auto at = items.find(key.content()); at != items.end()) {
        if (at->second.expires == 0 || at->second.expires > now()) {
            found = at->second;
        }
    }
}

void Put(const resp::word &key, std::uint32_t shard, item made)
{
    shard_of_items &in = shards[shard];
    auto at = in.items.find(key.content());
    if (at == in.items.end()) {
        at = in.items.try_emplace(std::string(key.content())).first;
    } else {
        in.forget_time(at->first, at->second);
    }
    if (made.expires != 0) {
        in.expiring.emplace(made.expires, at->first);
    }
    at->second = std::move(made);
}

int Kept(const resp::word &given, resp::word &content)
{
    constexpr std::size_t framing = std::string_view("$\r\n\r\n").size();
    constexpr std::size_t most_beside = 256;
    const std::string_view text = given.content();
    std::size_t digits = 1;
    for (std::size_t rest = text.size(); rest >= 10; rest /= 10) {
        ++digits;
    }
    const std::size_t shortest = framing + digits + text.size();
    if (given.wire().size() == shortest && given.bytes().size() <= 2 * shortest + most_beside) {
        content = given;
        return 0;
    }
    flux::expected<resp::word, int> made = resp::word::make({.content = text});
    if (!made.has_value()) {
        return made.error();
    }
    content = *std::move(made);
    return 0;
}

void Forget(const resp::word &key, std::uint32_t shard)
{
    shard_of_items &from = shards[shard];
    if (const auto at = from.items.find(key.content()); at != from.items.end()) {
        from.forget_time(at->first, at->second);
        from.items.erase(at);
    }
}

void Drop(std::uint32_t shard)
{
    shard_of_items &from = shards[shard];
    const std::int64_t time = now();
    while (!from.expiring.empty() && from.expiring.begin()->first <= time) {
        from.items.erase(from.expiring.begin()->second);
        from.expiring.erase(from.expiring.begin());
    }
}

void Now(std::int64_t &time)
{
    time = now();
}

int Client(flux::connection *connection, flux::connection *&same, client &from)
{
    same = connection;
    client *const known = connection->state<client>();
    if (known == nullptr) {
        return EBADF;
    }
    if (known->id == 0) {
        known->id = ++clients;
    }
    from = *known;
    from.protocol = std::max<std::int64_t>(from.protocol, 2);
    return 0;
}

int SetClient(client from, flux::connection *connection, flux::connection *&same)
{
    same = connection;
    client *const known = connection->state<client>();
    if (known == nullptr) {
        return EBADF;
    }
    *known = std::move(from);
    return 0;
}
