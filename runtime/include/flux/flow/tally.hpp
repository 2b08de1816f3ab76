/// \file
/// Counting, in the one way in which the runtime counts: each thread for itself, and whoever asks adds up.
///
/// A tally has one writer, so to add is a load and a store, with no locked operation and nobody to wait for; any thread
/// may read it at any time. Who reads a value also sees all that the writer has counted before it.
#pragma once

#include <atomic>
#include <cstdint>
#include <unordered_map>

namespace flux {

/// A count.
class tally
{
  public:
    /// This often more. For its one writer.
    void add(std::uint64_t times) noexcept
    {
        value_.store(value_.load(std::memory_order_relaxed) + times, std::memory_order_release);
    }

    /// What has been counted. Any thread may ask.
    std::uint64_t value() const noexcept { return value_.load(std::memory_order_acquire); }

  private:
    std::atomic<std::uint64_t> value_{0};
};

/// Counts by key, as many as there is memory for. What finds none is itself counted, as lost.
class tally_table
{
  public:
    tally_table() = default;
    ~tally_table();
    tally_table(const tally_table &) = delete;
    tally_table &operator=(const tally_table &) = delete;

    /// For this key, this often more. O(1). For the one writer.
    void add(std::uint64_t key, std::uint64_t times = 1) noexcept;

    /// Calls `each(key, count)` for every key that was counted. Any thread may ask.
    template <class Each>
    void visit(Each each) const
    {
        for (const entry *one = newest_.load(std::memory_order_acquire); one != nullptr; one = one->before) {
            each(one->key, one->count.value());
        }
    }

    /// This often there was no memory elsewhere. For the one writer.
    void add_lost(std::uint64_t times) noexcept { lost_.add(times); }

    /// How often there was no memory to count with.
    std::uint64_t lost() const noexcept { return lost_.value(); }

  private:
    struct entry {
        std::uint64_t key;
        const entry *before;
        tally count;
    };

    // Entries stay where they are, in a list that only grows at its head: so others walk it while it does.
    std::atomic<entry *> newest_{nullptr};
    tally lost_;
    // The writer's own.
    std::unordered_map<std::uint64_t, entry *> index_;
};

} // namespace flux
