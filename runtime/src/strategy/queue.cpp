#include "flux/strategy/queue.hpp"

#include "flux/flow/flow.hpp"

namespace flux {

void queue::push(flow &started) noexcept
{
    std::unique_lock guard(lock_);
    not_full_.wait(guard, [this] { return size_ < capacity_; });
    started.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &started;
    last_ = &started;
    ++size_;
    const bool someone_idle = idle_ != 0;
    guard.unlock();
    if (someone_idle) {
        not_empty_.notify_one();
    }
}

void queue::offer(branch_base &unstarted) noexcept
{
    std::unique_lock guard(lock_);
    offered_.push(unstarted);
    const bool someone_idle = idle_ != 0;
    guard.unlock();
    if (someone_idle) {
        not_empty_.notify_one();
    }
}

bool queue::take_back(branch_base &offered) noexcept
{
    const std::lock_guard guard(lock_);
    return offered_.take_back(offered);
}

queued queue::pop() noexcept
{
    std::unique_lock guard(lock_);
    ++idle_;
    not_empty_.wait(guard, [this] { return !offered_.empty() || first_ != nullptr || closed_; });
    --idle_;
    if (branch_base *const begun = offered_.pop()) {
        return {begun, nullptr};
    }
    if (first_ == nullptr) {
        return {};
    }
    flow *const taken = first_;
    first_ = taken->next;
    taken->next = nullptr;
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
}

} // namespace flux
