#include "flux/io/accepting.hpp"

#include <algorithm>
#include <utility>

namespace flux {

void accepting::drain() noexcept
{
    drains_.store(true);
    look();
}

void accepting::look() noexcept
{
    const std::lock_guard alone(lock_);
    std::ranges::for_each(places_, &accept_place::look);
}

bool accepting::take_place() noexcept
{
    if (connections_.fetch_add(1) < most_connections_.load() || drains()) {
        return true;
    }
    connections_.fetch_sub(1);
    return false;
}

void accepting::add(accept_place &looks)
{
    const std::lock_guard alone(lock_);
    places_.push_back(&looks);
    // Whoever drains looks for places after it has said so.
    if (drains()) {
        looks.look();
    }
}

void accepting::remove(accept_place &looks) noexcept
{
    const std::lock_guard alone(lock_);
    std::erase(places_, &looks);
}

entrance::entrance(std::shared_ptr<accepting> of) noexcept : of_(std::move(of))
{
    of_->open_entrances_.fetch_add(1);
}

void entrance::close() noexcept
{
    if (const std::shared_ptr<accepting> closed = std::exchange(of_, nullptr)) {
        closed->open_entrances_.fetch_sub(1);
    }
}

} // namespace flux
