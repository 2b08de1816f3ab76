/// \file
/// How many other keys come between two uses of a key. It says how often a cache would have had what is asked for, of
/// any size, without building one: one for so many keys that drops the key that was used longest ago has a key if fewer
/// others came since its last use (Mattson, Gecsei, Slutz, Traiger, "Evaluation techniques for storage hierarchies",
/// IBM Systems Journal 1970).
///
/// Few keys are followed: those whose hashes are below a threshold, of which all uses are seen (SHARDS: Waldspurger,
/// Park, Garthwaite, Ahmad, "Efficient MRC construction with SHARDS", FAST 2015). A distance among them stands for one
/// that is longer by as much as they are fewer, and a use for as many. Where more are to be followed than there is
/// room for, the threshold is halved, and those above it are forgotten. So memory is fixed, 112 KiB for each
/// constraint that has keys. Where keys are not all followed, a few that are used much decide how many uses are seen:
/// what that is off by is added to the shortest distance, as the paper's SHARDS-adj does. Hit rates of the tests'
/// traces are off by 0.03 at most.
///
/// Keys are followed for so many of their uses; then none is for 15 times as many, so that few uses cost more than a
/// comparison. The first use of a key after that counts as its first use ever: a hit rate is too low by 4096 of 65,536
/// uses at most for that.
#pragma once

#include "flux/flow/time_histogram.hpp"
#include "flux/waiting/spin_lock.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace flux {

/// What they had counted when they were asked.
struct reuse_counts {
    /// Uses of keys that were not known before.
    std::uint64_t first_uses = 0;
    /// The others, by how many other keys came since the use before; in steps as those of times.
    std::vector<step_count> distances = {};
};

/// The distances of one constraint's keys. Any thread adds, any thread asks.
class reuse_distances
{
  public:
    /// So many keys are followed at most.
    static constexpr std::size_t most_followed = 4096;
    /// For so many uses of keys that are followed; and then none for so many times as many.
    static constexpr std::uint32_t uses_followed = 65'536;
    static constexpr std::uint64_t rest = 15;

    reuse_distances();
    ~reuse_distances();
    reuse_distances(const reuse_distances &) = delete;
    reuse_distances &operator=(const reuse_distances &) = delete;

    /// A key with this hash is used, every bit of which depends on the whole key.
    void add(std::uint64_t hash) noexcept
    {
        if (hash >> unused_bits < threshold_.load(std::memory_order_relaxed)) [[unlikely]] {
            follow(hash);
        }
    }

    /// Keys were used so many times more; now and then, for all since the last time.
    void used(std::uint32_t times) noexcept
    {
        if (threshold_.load(std::memory_order_relaxed) == 0) {
            rested(times);
        } else {
            uses_.fetch_add(times, std::memory_order_relaxed);
        }
    }

    /// What has been counted. Throws `std::bad_alloc`.
    reuse_counts counts() const;

  private:
    static constexpr unsigned unused_bits = 40;
    static constexpr std::uint64_t all_hashes = std::uint64_t{1} << (64 - unused_bits);

    class followed_keys;

    void follow(std::uint64_t hash) noexcept;
    void rested(std::uint32_t times) noexcept;

    // What is followed; 0 while nothing is.
    std::atomic<std::uint64_t> threshold_{all_hashes};
    spin_lock lock_;
    // With the lock. One in 2^shift is followed, whenever any is; that others read.
    std::atomic<unsigned> shift_{0};
    std::uint32_t uses_left_ = uses_followed;
    std::uint64_t rest_left_ = 0;
    std::unique_ptr<followed_keys> followed_;
    // While keys were followed, of all keys.
    std::atomic<std::uint64_t> uses_{0};
    std::atomic<std::uint64_t> first_uses_{0};
    time_histogram distances_;
};

} // namespace flux
