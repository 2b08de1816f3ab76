#include "flux/flow/reuse_distances.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <mutex>
#include <new>

namespace flux {

/// The keys that are followed, by their last uses: a use has the next of so many slots, and who has an earlier one has
/// none any more. A tree of sums (Fenwick, "A new data structure for cumulative frequency tables", 1994) says how many
/// slots behind one are taken.
class reuse_distances::followed_keys
{
  public:
    static constexpr std::uint64_t unknown = std::numeric_limits<std::uint64_t>::max();

    std::size_t size() const noexcept { return size_; }

    /// It is used: how many others were since, or `unknown` where it was not followed.
    std::uint64_t use(std::uint64_t hash) noexcept
    {
        if (end_ == slots) {
            keep_below(all_hashes);
        }
        std::size_t place = place_of(hash);
        std::uint64_t distance = unknown;
        if (table_[place] != empty) {
            const std::size_t before = table_[place];
            distance = size_ - taken_up_to(before);
            hashes_[before] = 0;
            add(before, -1);
        } else {
            ++size_;
        }
        table_[place] = static_cast<std::uint16_t>(end_);
        hashes_[end_] = hash;
        add(end_++, 1);
        return distance;
    }

    /// Forgets those whose hashes are not below this; the others move to the first slots, in their order.
    void keep_below(std::uint64_t threshold) noexcept
    {
        const std::size_t before = end_;
        table_.fill(empty);
        sums_.fill(0);
        size_ = end_ = 0;
        for (std::size_t slot = 0; slot < before; ++slot) {
            const std::uint64_t hash = hashes_[slot];
            if (hash != 0 && hash >> unused_bits < threshold) {
                table_[place_of(hash)] = static_cast<std::uint16_t>(end_);
                hashes_[end_] = hash;
                add(end_++, 1);
                ++size_;
            }
        }
    }

  private:
    static constexpr std::size_t slots = 2 * most_followed;
    // Never more than half full.
    static constexpr std::size_t places = 4 * most_followed;
    static constexpr std::uint16_t empty = std::numeric_limits<std::uint16_t>::max();

    // Where it is, or would be: none is ever taken out alone. The bits above are alike in keys that are followed.
    std::size_t place_of(std::uint64_t hash) const noexcept
    {
        std::size_t place = hash % places;
        while (table_[place] != empty && hashes_[table_[place]] != hash) {
            place = (place + 1) % places;
        }
        return place;
    }

    void add(std::size_t slot, int change) noexcept
    {
        for (std::size_t node = slot + 1; node <= slots; node += node & (~node + 1)) {
            sums_[node - 1] = static_cast<std::uint16_t>(sums_[node - 1] + change);
        }
    }

    // Slots up to this one, itself among them.
    std::size_t taken_up_to(std::size_t slot) const noexcept
    {
        std::size_t sum = 0;
        for (std::size_t node = slot + 1; node != 0; node -= node & (~node + 1)) {
            sum += sums_[node - 1];
        }
        return sum;
    }

    std::size_t size_ = 0;
    std::size_t end_ = 0;
    std::array<std::uint64_t, slots> hashes_ = {};
    std::array<std::uint16_t, slots> sums_ = {};
    std::array<std::uint16_t, places> table_ = [] {
        std::array<std::uint16_t, places> all;
        all.fill(empty);
        return all;
    }();
};

reuse_distances::reuse_distances() = default;
reuse_distances::~reuse_distances() = default;

// Who finds somebody else there is not seen: few are, and nobody waits.
void reuse_distances::follow(std::uint64_t hash) noexcept
{
    const std::unique_lock alone(lock_, std::try_to_lock);
    if (!alone.owns_lock() || hash >> unused_bits >= threshold_.load(std::memory_order_relaxed) || hash == 0) {
        return;
    }
    if (followed_ == nullptr) {
        followed_.reset(new (std::nothrow) followed_keys);
        if (followed_ == nullptr) {
            return;
        }
    }
    const unsigned shift = shift_.load(std::memory_order_relaxed);
    const std::uint64_t distance = followed_->use(hash);
    if (distance == followed_keys::unknown) {
        first_uses_.fetch_add(std::uint64_t{1} << shift, std::memory_order_relaxed);
    } else {
        distances_.add(std::chrono::nanoseconds(static_cast<std::int64_t>(distance << shift)),
                       std::uint32_t{1} << shift);
    }
    if (followed_->size() > most_followed && shift < 64 - unused_bits) {
        shift_.store(shift + 1, std::memory_order_relaxed);
        const std::uint64_t fewer = all_hashes >> (shift + 1);
        followed_->keep_below(fewer);
        threshold_.store(fewer, std::memory_order_relaxed);
    }
    if (--uses_left_ == 0) {
        followed_->keep_below(0);
        rest_left_ = (rest * uses_followed) << shift;
        threshold_.store(0, std::memory_order_relaxed);
    }
}

void reuse_distances::rested(std::uint32_t times) noexcept
{
    const std::unique_lock alone(lock_, std::try_to_lock);
    if (!alone.owns_lock() || threshold_.load(std::memory_order_relaxed) != 0) {
        return;
    }
    rest_left_ -= std::min<std::uint64_t>(times, rest_left_);
    if (rest_left_ == 0) {
        uses_left_ = uses_followed;
        threshold_.store(all_hashes >> shift_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
}

reuse_counts reuse_distances::counts() const
{
    reuse_counts known{first_uses_.load(std::memory_order_relaxed), distances_.counts().steps()};
    if (shift_.load(std::memory_order_relaxed) == 0) {
        return known;
    }
    const auto add = [](std::uint64_t sum, const step_count &each) { return sum + each.times; };
    const std::uint64_t seen = std::accumulate(known.distances.begin(), known.distances.end(), known.first_uses, add);
    const std::uint64_t all = uses_.load(std::memory_order_relaxed);
    if (known.distances.empty() || known.distances.front().begin != 0) {
        known.distances.insert(known.distances.begin(), {0, 1, 0});
    }
    std::uint64_t &shortest = known.distances.front().times;
    shortest = all > seen ? shortest + (all - seen) : shortest - std::min(shortest, seen - all);
    return known;
}

} // namespace flux
