#include "flux/event/inbox.hpp"

#include "flux/flow/flow.hpp"

namespace flux {

void inbox::push(flow &started) noexcept
{
    const std::lock_guard alone(lock_);
    started.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &started;
    last_ = &started;
    pushed_.fetch_add(1);
}

flow *inbox::pop() noexcept
{
    // Most often it is known without the lock that there is none.
    if (empty()) {
        return nullptr;
    }
    const std::lock_guard alone(lock_);
    flow *const taken = first_;
    if (taken != nullptr) {
        first_ = taken->next;
        taken->next = nullptr;
        taken_.fetch_add(1);
    }
    return taken;
}

} // namespace flux
