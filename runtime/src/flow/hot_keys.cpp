#include "flux/flow/hot_keys.hpp"

#include <algorithm>
#include <functional>
#include <mutex>

namespace flux {

void hot_keys::add(std::uint64_t key) noexcept
{
    const std::lock_guard alone(lock_);
    const auto end = all_.begin() + static_cast<std::ptrdiff_t>(size_);
    if (const auto found = std::ranges::find(all_.begin(), end, key, &hot_key::key); found != end) {
        ++found->times;
    } else if (size_ < kept) {
        all_[size_++] = {key, 1, 0};
    } else {
        hot_key &smallest = *std::ranges::min_element(all_, {}, &hot_key::times);
        smallest = {key, smallest.times + 1, smallest.times};
    }
}

std::vector<hot_key> hot_keys::most() const
{
    std::vector<hot_key> found;
    found.reserve(kept); // no memory is asked for under the lock
    {
        const std::lock_guard alone(lock_);
        found.assign(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(size_));
    }
    std::ranges::stable_sort(found, std::ranges::greater(), &hot_key::times);
    return found;
}

} // namespace flux
