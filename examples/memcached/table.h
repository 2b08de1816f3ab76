// The items of a shard, found by their keys.
//
// They stand in one array, each in the place that its hash says or in the next free one, so that the first or second
// place that is looked at has the item: where it is not in the processor's cache, to fetch it costs as much as all else
// that a request needs. (D. E. Knuth, "The Art of Computer Programming", volume 3, 6.4, algorithms L and R.)
#pragma once

#include "cache.flux.h"

#include "flux/moment.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

// A key with its hash, which tells most keys apart without a look at them.
struct hashed_key {
    std::string_view text;
    std::size_t hash;
};

// A place for an item. First what each look touches.
struct entry {
    std::size_t hash = 0;
    flux::moment expires = flux::never;
    bool is_taken = false;
    // Since the hand was here last.
    bool is_used = false;
    item kept;

    // What the item takes: its message, and two places, as three eighths to three quarters of them are taken.
    std::size_t size() const { return kept.stored.wire().size() + 2 * sizeof(entry); }
};

// What is known of it is in one line of the processor's cache.
class table {
  public:
    // The entry of a key; null where there is none.
    entry *find(const hashed_key &key)
    {
        if (places_ == nullptr) {
            return nullptr;
        }
        for (std::size_t at = home(key.hash); places_[at].is_taken; at = behind(at)) {
            entry &each = places_[at];
            if (each.hash == key.hash && is_of(each, key.text)) {
                return &each;
            }
        }
        return nullptr;
    }

    // Adds an item whose key is not there yet. Throws `std::bad_alloc`.
    void add(entry added)
    {
        if (places_ == nullptr || 4 * (count_ + 1) > 3 * (last() + 1)) {
            grow();
        }
        bytes_ += added.size();
        ++count_;
        place(std::move(added));
    }

    void erase(entry &gone)
    {
        bytes_ -= gone.size();
        --count_;
        auto hole = static_cast<std::size_t>(&gone - places_.get());
        // What stands behind it moves up, so that who looks for it does not stop at the hole.
        for (std::size_t at = behind(hole); places_[at].is_taken; at = behind(at)) {
            if (distance(home(places_[at].hash), at) >= distance(hole, at)) {
                places_[hole] = std::move(places_[at]);
                hole = at;
            }
        }
        places_[hole] = {};
    }

    void clear()
    {
        keep(nullptr, 0);
        count_ = 0;
        bytes_ = 0;
    }

    // Forgets an item that nobody has used since the hand of the clock was there last; there is one item or more.
    // (F. J. Corbató, "A paging experiment with the Multics system", 1968: what a use costs is a mark.)
    void evict()
    {
        for (hand_ &= last();; hand_ = behind(hand_)) {
            if (entry &at = places_[hand_]; at.is_taken && !std::exchange(at.is_used, false)) {
                erase(at);
                return;
            }
        }
    }

    std::size_t count() const { return count_; }
    // What the items take.
    std::size_t bytes() const { return bytes_; }

    // The processor begins to fetch where a look for this hash will begin. For anybody at any time: it is a guess.
    void expect_look(std::size_t hash) const
    {
        __builtin_prefetch(guess_.load(std::memory_order_relaxed) + home(hash));
    }

  private:
    // The last place; there is a power of two of them.
    std::size_t last() const { return last_.load(std::memory_order_relaxed); }
    std::size_t behind(std::size_t at) const { return (at + 1) & last(); }
    std::size_t distance(std::size_t from, std::size_t to) const { return (to - from) & last(); }
    // The low bits of a hash say the shard.
    std::size_t home(std::size_t hash) const { return (hash >> 32) & last(); }

    // Most likely it is, so the processor begins to fetch the value, too.
    static bool is_of(const entry &at, std::string_view key)
    {
        const std::string_view message = at.kept.stored.wire();
        for (std::size_t line = 0; line < std::min(message.size(), most_ahead); line += 64) {
            __builtin_prefetch(message.data() + line);
        }
        return at.kept.stored.key() == key;
    }

    void place(entry placed)
    {
        std::size_t at = home(placed.hash);
        while (places_[at].is_taken) {
            at = behind(at);
        }
        places_[at] = std::move(placed);
    }

    void grow()
    {
        const std::size_t before = places_ == nullptr ? 0 : last() + 1;
        const std::size_t now = std::max<std::size_t>(4, 2 * before);
        const std::unique_ptr<entry[]> old = keep(std::make_unique<entry[]>(now), now - 1);
        for (std::size_t at = 0; at < before; ++at) {
            if (old[at].is_taken) {
                place(std::move(old[at]));
            }
        }
    }

    // Gives the places that there were.
    std::unique_ptr<entry[]> keep(std::unique_ptr<entry[]> places, std::size_t last)
    {
        std::swap(places, places_);
        guess_.store(places_.get(), std::memory_order_relaxed);
        last_.store(last, std::memory_order_relaxed);
        return places;
    }

    // Behind so many bytes the processor has noticed itself where this goes.
    static constexpr std::size_t most_ahead = 1280;

    std::unique_ptr<entry[]> places_;
    // The same, for those who do not hold the table.
    std::atomic<const entry *> guess_ = nullptr;
    std::atomic<std::size_t> last_ = 0;
    std::size_t count_ = 0;
    std::size_t bytes_ = 0;
    // The place that is looked at next when there is no room.
    std::size_t hand_ = 0;
};
