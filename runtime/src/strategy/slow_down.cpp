#include "flux/strategy/slow_down.hpp"

#include <algorithm>

namespace flux {

std::chrono::milliseconds slow_down::failed(std::chrono::nanoseconds took) noexcept
{
    failures_ = took >= waited ? 1 : failures_ + 1;
    if (failures_ <= free_failures) {
        return {};
    }
    constexpr std::size_t longest_doubling = 7;
    const std::size_t doubled = std::min(failures_ - free_failures - 1, longest_doubling);
    return std::min(std::chrono::milliseconds(1 << doubled), longest_pause);
}

bool slow_down::to_be_named() noexcept
{
    if (named_ || failures_ <= free_failures) {
        return false;
    }
    return named_ = true;
}

} // namespace flux
