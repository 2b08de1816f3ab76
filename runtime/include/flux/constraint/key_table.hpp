/// \file
/// The locks of a keyed constraint: one for each key that a flow holds or waits for, and none for other keys.
///
/// A lock is found by its key in a hash table. It is made when it is not there, and removed when its last user leaves;
/// then it is used again for another key. So the table is as large as the largest number of keys in use at one time,
/// however many keys there are over time. The table is split into shards. Each shard has a lock that is held for a few
/// instructions, never while a flow waits for a key.
#pragma once

#include "flux/constraint/key.hpp"
#include "flux/constraint/lock.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace flux {

/// The locks of the keys of one constraint.
class key_table
{
  public:
    /// The lock of a key in use. Who took it gives it back by this, so that no key is computed twice.
    class entry;

    constexpr key_table() noexcept = default;
    key_table(const key_table &) = delete;
    key_table &operator=(const key_table &) = delete;
    ~key_table();

    /// The lock of the key whose number `scatter` makes this, in use by one more. Waits at `place` as long as it must:
    /// for the shard, and for memory where there is none.
    entry &find(key_number scattered, waiter &place) noexcept;

    /// The lock itself.
    static lock &lock_of(entry &of) noexcept;

    /// The user that `find` counted leaves; it holds the lock no more.
    void forget(entry &used, waiter &place) noexcept;

    /// How many locks there are, in use or to be used again: for tests. Nobody may use the table meanwhile.
    std::size_t size() const noexcept;

  private:
    static constexpr std::size_t shard_count = 64;
    static constexpr std::size_t chain_count = 64;

    struct alignas(64) shard {
        lock alone;
        entry *idle = nullptr;
        std::array<entry *, chain_count> chains = {};
    };

    // By the key as `scatter` has it, which differs where the key does.
    shard &shard_of(key_number scattered) noexcept { return shards_[scattered % shard_count]; }
    static entry *&chain_of(shard &in, key_number scattered) noexcept
    {
        return in.chains[scattered / shard_count % chain_count];
    }

    static entry *use_existing(shard &in, key_number scattered) noexcept;

    std::array<shard, shard_count> shards_;
};

} // namespace flux
