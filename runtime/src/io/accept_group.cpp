#include "flux/io/accept_group.hpp"

#include <cstring>
#include <new>
#include <utility>

namespace flux {

accept_group::accept_group(std::shared_ptr<accepting> with, const address &at) : with_(std::move(with)), at_(at)
{
    if (with_ != nullptr) {
        with_->add(*this);
    }
}

accept_group::~accept_group()
{
    if (with_ != nullptr) {
        with_->remove(*this);
    }
}

accept_policy::member accept_group::join(accept_member &joins)
{
    const std::lock_guard alone(lock_);
    members_.reserve(members_.size() + 1);
    const accept_policy::member number = policy_.join();
    members_.push_back(&joins);
    return number;
}

void accept_group::leave(accept_policy::member of, moment now) noexcept
{
    change([&] {
        members_[of] = nullptr;
        ring(policy_.leave(of, now));
        if (policy_.unwatched(of)) {
            ring_all();
        }
    });
}

void accept_group::notify() noexcept
{
    change([&] { policy_.notify(); });
}

accept_policy::decision accept_group::ask(accept_policy::member by, moment now) noexcept
{
    return change([&] {
        const accept_policy::decision made = policy_.ask(by, now);
        ring(made.rings);
        return made;
    });
}

void accept_group::accepted(accept_policy::member by) noexcept
{
    change([&] { policy_.accepted(by); });
}

void accept_group::found_none(accept_policy::member by) noexcept
{
    change([&] { policy_.found_none(by); });
}

void accept_group::failed(moment now) noexcept
{
    change([&] { policy_.failed(now); });
}

void accept_group::full(accept_policy::member of, moment now) noexcept
{
    change([&] { ring(policy_.full(of, now)); });
}

void accept_group::closed(accept_policy::member of) noexcept
{
    change([&] { policy_.closed(of); });
    leave_place();
}

void accept_group::look() noexcept
{
    change([&] {
        drains() ? policy_.drain() : policy_.notify();
        ring_all();
    });
}

bool accept_group::take(const address &at, descriptor &socket) noexcept
{
    if (drains() || at.size != at_.size || std::memcmp(&at.storage, &at_.storage, at.size) != 0) {
        return false;
    }
    return change([&] {
        try {
            passed_.push_back(std::move(socket));
        } catch (const std::bad_alloc &) {
            return false;
        }
        policy_.notify();
        ring_all();
        return true;
    });
}

io_result<descriptor> accept_group::next_peer(const descriptor &from, address &peer) noexcept
{
    {
        const std::lock_guard alone(lock_);
        if (!passed_.empty()) {
            descriptor passed = std::move(passed_.back());
            passed_.pop_back();
            peer = peer_address(passed);
            return passed;
        }
    }
    return try_accept(from, peer);
}

void accept_group::unwatched(accept_policy::member of) noexcept
{
    change([&] {
        if (policy_.unwatched(of)) {
            ring_all();
        }
    });
}

// Under the lock, as `ring`.
void accept_group::ring_all() noexcept
{
    for (accept_member *const each : members_) {
        if (each != nullptr) {
            each->ring();
        }
    }
}

// Under the lock, so that nobody is rung who has left.
void accept_group::ring(std::optional<accept_policy::member> chosen) noexcept
{
    if (chosen && members_[*chosen] != nullptr) {
        members_[*chosen]->ring();
    }
}

} // namespace flux
