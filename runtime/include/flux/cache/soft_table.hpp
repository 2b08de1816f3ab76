/// \file
/// A table that may forget: values by their keys, at most so many, each for so long after it was used last.
///
/// Where a value comes that there is no room for, the one goes that was used least recently, so what a table takes is
/// bounded however many keys come. A value whose time is over is not found any more, and makes room for the next that
/// comes.
///
/// A large table is divided into shards by the hash of the key, each with a lock that is held for the few instructions
/// of one operation: it keeps the table itself in one piece. What flows may do at once is the business of the
/// constraints of the state that the table is for.
#pragma once

#include "flux/list/intrusive_list.hpp"
#include "flux/moment.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace flux {

/// Keys have `std::hash`, `==` and `<`. All operations may throw `std::bad_alloc`, or what copying throws, and then have
/// done nothing. `now` is the time, or was not long ago.
template <class Key, class Value>
class soft_table
{
  public:
    /// At most so many values, at least 1, each until it was not used for `kept`; 0 is for ever.
    soft_table(std::size_t most, std::chrono::milliseconds kept)
        : shards_(most < smallest_divided ? 1 : shard_count), most_each_(most / shards_.size()), kept_(kept)
    {
    }

    /// The value, which is used by that; none where there is none.
    std::optional<Value> get(const Key &key, moment now)
    {
        shard &in = shard_of(key);
        const std::lock_guard alone(in.guard);
        entry *const found = in.find(key, now);
        if (found == nullptr) {
            return std::nullopt;
        }
        std::optional<Value> copy(found->value);
        use(in, *found, now);
        return copy;
    }

    /// Puts a value in the place of what is there, and gives what that was.
    std::optional<Value> put(const Key &key, Value value, moment now)
    {
        shard &in = shard_of(key);
        const std::lock_guard alone(in.guard);
        if (entry *const found = in.find(key, now)) {
            use(in, *found, now);
            return std::exchange(found->value, std::move(value));
        }
        const auto made = in.entries.try_emplace(key, std::move(value)).first;
        entry &added = made->second;
        added.key = &made->first;
        in.by_use.push_back(added);
        added.until = until(now);
        if (in.entries.size() > most_each_) {
            in.drop(*in.by_use.first());
        }
        return std::nullopt;
    }

    /// Takes a value away, and gives it.
    std::optional<Value> take(const Key &key, moment now)
    {
        shard &in = shard_of(key);
        const std::lock_guard alone(in.guard);
        entry *const found = in.find(key, now);
        if (found == nullptr) {
            return std::nullopt;
        }
        std::optional<Value> taken(std::move(found->value));
        in.drop(*found);
        return taken;
    }

    /// All there is, by key; nothing is used by that. O(n log n).
    std::map<Key, Value> all(moment now) const
    {
        std::map<Key, Value> all;
        for (const shard &in : shards_) {
            const std::lock_guard alone(in.guard);
            for (const auto &[key, one] : in.entries) {
                if (now < one.until) {
                    all.emplace(key, one.value);
                }
            }
        }
        return all;
    }

    /// How many values there are. O(n).
    std::size_t size(moment now) const noexcept
    {
        std::size_t size = 0;
        for (const shard &in : shards_) {
            const std::lock_guard alone(in.guard);
            const auto is_there = [now](const auto &one) { return now < one.second.until; };
            size += static_cast<std::size_t>(std::ranges::count_if(in.entries, is_there));
        }
        return size;
    }

    /// Takes all away, and gives it.
    std::map<Key, Value> take_all(moment now)
    {
        std::map<Key, Value> taken = all(now);
        for (shard &in : shards_) {
            const std::lock_guard alone(in.guard);
            while (entry *const one = in.by_use.first()) {
                in.drop(*one);
            }
        }
        return taken;
    }

  private:
    // The exact order of use matters in a small table, and not in a large one.
    static constexpr std::size_t smallest_divided = 4096;
    static constexpr std::size_t shard_count = 16;

    struct entry : listed<entry> {
        explicit entry(Value &&first) : value(std::move(first)) {}

        Value value;
        const Key *key = nullptr;
        moment until = never;
    };

    struct alignas(64) shard {
        // Null where its time is over; then it is gone.
        entry *find(const Key &key, moment now)
        {
            const auto found = entries.find(key);
            if (found == entries.end()) {
                return nullptr;
            }
            if (now < found->second.until) {
                return &found->second;
            }
            drop(found->second);
            return nullptr;
        }

        void drop(entry &one) noexcept
        {
            by_use.remove(one);
            entries.erase(entries.find(*one.key));
        }

        mutable std::mutex guard;
        std::unordered_map<Key, entry> entries;
        // The one that was used last is last.
        intrusive_list<entry> by_use;
    };

    moment until(moment now) const noexcept { return kept_.count() == 0 ? never : now + kept_; }

    void use(shard &in, entry &one, moment now) noexcept
    {
        in.by_use.remove(one);
        in.by_use.push_back(one);
        one.until = until(now);
    }

    // The upper half of the hash, as the lower one chooses among the chains of the shard.
    shard &shard_of(const Key &key) noexcept
    {
        const std::size_t hash = std::hash<Key>{}(key) * 0x9e3779b97f4a7c15U;
        return shards_[(hash >> 32) % shards_.size()];
    }

    std::vector<shard> shards_;
    const std::size_t most_each_;
    const std::chrono::milliseconds kept_;
};

} // namespace flux
