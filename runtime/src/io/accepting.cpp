#include "flux/io/accepting.hpp"

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>

namespace flux {
namespace {

std::atomic<accepting *> current_one{nullptr};

} // namespace

accepting::accepting() noexcept : accepting(current_one.exchange(this)) {}

accepting::~accepting()
{
    current_one.store(before_);
}

accepting &accepting::current() noexcept
{
    accepting *const found = current_one.load();
    if (found != nullptr) {
        return *found;
    }
    // Never destroyed: threads that are left behind may use it to the end. Nor is it allocated, which could fail.
    alignas(accepting) static std::byte place[sizeof(accepting)];
    static accepting *const of_process = new (place) accepting(nullptr);
    return *of_process;
}

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

entrance::entrance() noexcept : of_(&accepting::current())
{
    of_->open_entrances_.fetch_add(1);
}

void entrance::close() noexcept
{
    if (accepting *const closed = std::exchange(of_, nullptr)) {
        closed->open_entrances_.fetch_sub(1);
    }
}

} // namespace flux
