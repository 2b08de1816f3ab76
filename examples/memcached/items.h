// The items of the cache, by shards. Whoever calls these holds the constraint `items` of the shard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

struct item;
namespace memcached {
class command;
}

// Where the item of a request is, if there is one: by the hash of its key.
void Shard(const memcached::command &request, std::uint32_t &shard, std::uint64_t &hash);
void Shards(std::vector<std::uint32_t> &shards);

void Change(std::uint64_t &version);
void Filled(std::string content, std::uint64_t size, std::string &filled);

// The item of the request's key, if there is one.
void Look(std::uint32_t shard, std::uint64_t hash, const memcached::command &request, std::optional<item> &found);
// The same; and it expires when the request says.
void Touch(std::uint32_t shard, std::uint64_t hash, const memcached::command &request, std::optional<item> &found);
void Put(std::size_t memory, std::uint32_t shard, std::uint64_t hash, memcached::command stored,
         const std::optional<std::uint32_t> &expiration, std::uint64_t &version);
void Forget(std::uint32_t shard, std::uint64_t hash, const memcached::command &request);
void Flush(std::uint32_t shard, const memcached::command &request);
void Measure(std::uint32_t shard, std::uint64_t &items, std::uint64_t &bytes, std::uint64_t &evictions);
