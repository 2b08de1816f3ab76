// The items of the cache, in each shard a table.

#include "cache.flux.h"

#include "flux/io.hpp"
#include "flux/text_hash.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/multi_index/hashed_index.hpp>
#include <boost/multi_index/member.hpp>
#include <boost/multi_index_container.hpp>
#include <chrono>
#include <string_view>
#include <utility>

namespace {

// Many more than processors, so that requests for different keys hardly meet.
constexpr std::uint32_t shard_count = 256;

// A key with its hash, which tells most keys apart without a look at them.
struct hashed_key {
    explicit hashed_key(std::string_view of) : text(of), hash(flux::secret_text_hash()(of)) {}

    bool operator==(const hashed_key &other) const { return hash == other.hash && text == other.text; }

    std::string_view text;
    std::size_t hash;
};

struct hash_of_key {
    std::size_t operator()(const hashed_key &key) const { return key.hash; }
};

// First what each look touches, beside what the table adds: so most of it is in one line of the cache.
struct entry {
    // Its text is in the message.
    hashed_key key;
    mutable flux::moment expires;
    // Since the hand was here last.
    mutable bool is_used;
    item kept;
};

namespace by = boost::multi_index;
using entries = boost::multi_index_container<
    entry, by::indexed_by<by::hashed_unique<by::member<entry, hashed_key, &entry::key>, hash_of_key>>>;

struct table {
    entries all;
    std::size_t bytes = 0;
    std::uint64_t evictions = 0;
    // The bucket that is looked at next when there is no room.
    std::size_t hand = 0;
    // When all that is there will be forgotten.
    flux::moment flush = flux::never;
};

std::array<table, shard_count> shards;

// The last change of any item.
std::atomic<std::uint64_t> last_version = 0;

// What an item takes beside its message: a node of the table.
constexpr std::size_t overhead = sizeof(entry) + 64;

std::size_t size_of(const entry &of)
{
    return of.kept.stored.wire().size() + overhead;
}

void erase(table &from, entries::iterator gone)
{
    from.bytes -= size_of(*gone);
    from.all.erase(gone);
}

void clear(table &gone)
{
    gone.all.clear();
    gone.bytes = 0;
}

// The entry of a key, if there is one that has not expired; else the end.
entries::iterator find(table &in, const hashed_key &key)
{
    if (in.flush != flux::never && in.flush <= flux::running_io().now()) {
        clear(in);
        in.flush = flux::never;
    }
    const auto at = in.all.find(key);
    if (at != in.all.end()) {
        if (at->expires != flux::never && at->expires <= flux::running_io().now()) {
            erase(in, at);
            return in.all.end();
        }
        if (!at->is_used) {
            at->is_used = true;
        }
    }
    return at;
}

// Forgets an item that nobody has used since the hand of the clock was there last. (F. J. Corbató, "A paging experiment
// with the Multics system", 1968: what a use costs is a mark.)
void evict(table &from)
{
    while (true) {
        from.hand = (from.hand + 1) % from.all.bucket_count();
        for (auto at = from.all.begin(from.hand); at != from.all.end(from.hand); ++at) {
            if (!std::exchange(at->is_used, false)) {
                erase(from, from.all.iterator_to(*at));
                ++from.evictions;
                return;
            }
        }
    }
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

void Shard(const memcached::command &request, std::uint32_t &shard)
{
    shard = static_cast<std::uint32_t>(flux::secret_text_hash()(request.key()) % shard_count);
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

void Look(std::uint32_t shard, const memcached::command &request, std::optional<item> &found)
{
    table &in = shards[shard];
    if (const auto at = find(in, hashed_key(request.key())); at != in.all.end()) {
        found = at->kept;
    }
}

void Touch(std::uint32_t shard, const memcached::command &request, std::optional<item> &found)
{
    table &in = shards[shard];
    if (const auto at = find(in, hashed_key(request.key())); at != in.all.end()) {
        at->expires = expiry(request.touch().value().expiration());
        found = at->kept;
    }
}

void Put(std::size_t memory, std::uint32_t shard, memcached::command stored,
         const std::optional<std::uint32_t> &expiration, std::uint64_t &version)
{
    table &into = shards[shard];
    Change(version);
    const hashed_key key(stored.key());
    entry made{key, expiration ? expiry(*expiration) : flux::never, true, {std::move(stored), version}};
    if (const auto before = find(into, key); before != into.all.end()) {
        made.expires = expiration ? made.expires : before->expires;
        erase(into, before);
    }
    while (into.bytes + size_of(made) > memory / shard_count && !into.all.empty()) {
        evict(into);
    }
    into.bytes += size_of(made);
    into.all.insert(std::move(made));
}

void Forget(std::uint32_t shard, const memcached::command &request)
{
    table &in = shards[shard];
    if (const auto at = find(in, hashed_key(request.key())); at != in.all.end()) {
        erase(in, at);
    }
}

void Flush(std::uint32_t shard, const memcached::command &request)
{
    const std::string_view extras = request.extras().value_or("");
    const std::uint32_t seconds = extras.size() == 4 ? flux::wire::big<std::uint32_t>(extras.data()) : 0;
    shards[shard].flush = expiry(seconds);
    if (seconds == 0) {
        clear(shards[shard]);
    }
}

void Measure(std::uint32_t shard, std::uint64_t &items, std::uint64_t &bytes, std::uint64_t &evictions)
{
    items = shards[shard].all.size();
    bytes = shards[shard].bytes;
    evictions = shards[shard].evictions;
}
