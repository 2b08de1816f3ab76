#include "flux/strategy/queue.hpp"

#include "flux/flow/flow.hpp"

#include <utility>

namespace flux {

void queue::push(flow &started) noexcept
{
    std::unique_lock guard(lock_);
    not_full_.wait(guard, [this] { return size_ < capacity_; });
    started_.push_back(started);
    ++size_;
    pushed(guard);
}

void queue::offer(branch_base &unstarted) noexcept
{
    std::unique_lock guard(lock_);
    offered_.push(unstarted);
    ++branches_;
    pushed(guard);
}

// Has somebody come for what was pushed, or the one who watches look.
void queue::pushed(std::unique_lock<std::mutex> &guard) noexcept
{
    const bool someone_idle = idle_ != 0;
    const bool tell_watcher = has_backlog() && std::exchange(watcher_rests_, false);
    guard.unlock();
    if (someone_idle) {
        not_empty_.notify_one();
    }
    if (tell_watcher) {
        backlog_.notify_one();
    }
}

bool queue::take_back(branch_base &offered) noexcept
{
    const std::lock_guard guard(lock_);
    const bool taken = offered_.take_back(offered);
    branches_ -= taken ? 1 : 0;
    return taken;
}

queued queue::pop() noexcept
{
    std::unique_lock guard(lock_);
    ++idle_;
    not_empty_.wait(guard, [this] { return !offered_.empty() || !started_.empty() || closed_; });
    --idle_;
    ++taken_;
    if (branch_base *const begun = offered_.pop()) {
        --branches_;
        return {begun, nullptr};
    }
    flow *const taken = started_.pop_front();
    if (taken == nullptr) {
        return {};
    }
    const bool was_full = size_ == capacity_;
    --size_;
    guard.unlock();
    if (was_full) {
        not_full_.notify_all();
    }
    return {nullptr, taken};
}

void queue::close() noexcept
{
    {
        const std::lock_guard guard(lock_);
        closed_ = true;
    }
    not_empty_.notify_all();
    backlog_.notify_all();
}

std::size_t queue::size() const noexcept
{
    const std::lock_guard guard(lock_);
    return size_ + branches_;
}

bool queue::await_backlog() noexcept
{
    std::unique_lock guard(lock_);
    while (!closed_ && !has_backlog()) {
        watcher_rests_ = true;
        backlog_.wait(guard);
    }
    return !closed_;
}

std::size_t queue::stands_still_for(std::chrono::milliseconds time) noexcept
{
    std::unique_lock guard(lock_);
    const std::size_t taken = taken_;
    backlog_.wait_for(guard, time, [this] { return closed_; });
    return has_backlog() && taken_ == taken ? size_ + branches_ : 0;
}

} // namespace flux
