/// \file
/// Which keys come most, of more than could each be counted: Space-Saving (Metwally, Agrawal, El Abbadi, "Efficient
/// computation of frequent and top-k elements in data streams", 2005).
///
/// So many keys have a count. One that has none takes over the smallest, and what that had: so a count is too high by
/// at most what was taken over, which is known, and by at most the `kept`th part of all that came. A key that came more
/// often than that has a count.
#pragma once

#include "flux/waiting/spin_lock.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace flux {

/// A key that came often.
struct hot_key {
    std::uint64_t key;
    /// How often it came; by so many at most this is too high.
    std::uint64_t times;
    std::uint64_t surplus;
};

/// The keys that come most. Any thread adds, any thread asks.
class hot_keys
{
  public:
    static constexpr std::size_t kept = 32;

    /// It came. O(`kept`).
    void add(std::uint64_t key) noexcept;

    /// Those that have a count, the highest first. Throws `std::bad_alloc`.
    std::vector<hot_key> most() const;

  private:
    mutable spin_lock lock_;
    std::size_t size_ = 0;
    std::array<hot_key, kept> all_ = {};
};

} // namespace flux
