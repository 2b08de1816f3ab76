// The items of the cache, in each shard a table.

#include "table.h"

#include "flux/io.hpp"
#include "flux/text_hash.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

// A power of two, many more than processors, so that requests for different keys hardly meet; and few, so that a
// processor has them at hand.
const std::uint32_t shard_count = 16 * std::bit_ceil(std::max(1U, std::thread::hardware_concurrency()));

struct alignas(64) shard {
    table items;
    std::uint64_t evictions = 0;
    // When all that is there will be forgotten.
    flux::moment flush = flux::never;
};

std::vector<shard> shards(shard_count);

// The last change of any item.
std::atomic<std::uint64_t> last_version = 0;

// The entry of a key, if there is one that has not expired; else null.
entry *find(shard &in, const hashed_key &key)
{
    if (in.flush != flux::never && in.flush <= flux::running_io().now()) {
        in.items.clear();
        in.flush = flux::never;
    }
    entry *const at = in.items.find(key);
    if (at != nullptr) {
        if (at->expires != flux::never && at->expires <= flux::running_io().now()) {
            in.items.erase(*at);
            return nullptr;
        }
        if (!at->is_used) {
            at->is_used = true;
        }
    }
    return at;
}

// "Expiration times" in protocol.txt: none, in seconds from now, or beyond 30 days the time of Unix.
flux::moment expiry(std::uint32_t seconds)
{
    using namespace std::chrono;
    constexpr std::uint32_t longest = 60 * 60 * 24 * 30;
    if (seconds == 0) {
        return flux::never;
    }
    const auto from_now = [=] {
        const auto unix_now = system_clock::now().time_since_epoch();
        return seconds <= longest ? nanoseconds(std::chrono::seconds(seconds))
                                  : duration_cast<nanoseconds>(std::chrono::seconds(seconds) - unix_now);
    };
    return flux::running_io().now() + from_now();
}

} // namespace

void Shard(const memcached::command &request, std::uint32_t &shard, std::uint64_t &hash)
{
    hash = flux::secret_text_hash()(request.key());
    shard = static_cast<std::uint32_t>(hash) & (shard_count - 1);
    shards[shard].items.expect_look(hash);
}

void Shards(std::vector<std::uint32_t> &all)
{
    for (std::uint32_t each = 0; each < shard_count; ++each) {
        all.push_back(each);
    }
}

void Change(std::uint64_t &version)
{
    version = ++last_version;
}

void Filled(std::string content, std::uint64_t size, std::string &filled)
{
    content.resize(std::max<std::size_t>(content.size(), size), ' ');
    filled = std::move(content);
}

void Look(std::uint32_t shard, std::uint64_t hash, const memcached::command &request, std::optional<item> &found)
{
    if (const entry *const at = find(shards[shard], {request.key(), hash})) {
        found = at->kept;
    }
}

void Touch(std::uint32_t shard, std::uint64_t hash, const memcached::command &request, std::optional<item> &found)
{
    if (entry *const at = find(shards[shard], {request.key(), hash})) {
        at->expires = expiry(request.touch().value().expiration());
        found = at->kept;
    }
}

void Put(std::size_t memory, std::uint32_t shard, std::uint64_t hash, memcached::command stored,
         const std::optional<std::uint32_t> &expiration, std::uint64_t &version)
{
    auto &[items, evictions, flush] = shards[shard];
    Change(version);
    entry made{hash, expiration ? expiry(*expiration) : flux::never, true, true, {std::move(stored), version}};
    if (entry *const before = find(shards[shard], {made.kept.stored.key(), hash})) {
        made.expires = expiration ? made.expires : before->expires;
        items.erase(*before);
    }
    while (items.count() > 0 && items.bytes() + made.size() > memory / shard_count) {
        items.evict();
        ++evictions;
    }
    items.add(std::move(made));
}

void Forget(std::uint32_t shard, std::uint64_t hash, const memcached::command &request)
{
    if (entry *const at = find(shards[shard], {request.key(), hash})) {
        shards[shard].items.erase(*at);
    }
}

void Flush(std::uint32_t shard, const memcached::command &request)
{
    const std::string_view extras = request.extras().value_or("");
    const std::uint32_t seconds = extras.size() == 4 ? flux::wire::big<std::uint32_t>(extras.data()) : 0;
    shards[shard].flush = expiry(seconds);
    if (seconds == 0) {
        shards[shard].items.clear();
    }
}

void Measure(std::uint32_t shard, std::uint64_t &items, std::uint64_t &bytes, std::uint64_t &evictions)
{
    items = shards[shard].items.count();
    bytes = shards[shard].items.bytes();
    evictions = shards[shard].evictions;
}
