#include "flux/flow/flow_store.hpp"

namespace flux {

flow_store::flow_store(const source_info &of, std::size_t limit) : source_(of), limit_(limit)
{
    // With one flow in hand, all that a lack of memory can do later is to make the source wait.
    idle_ = make();
    if (idle_ == nullptr) {
        throw std::bad_alloc();
    }
}

flow_store::~flow_store()
{
    flow *back = returned_.load(std::memory_order_acquire);
    for (flow *unused : {idle_, back == &nobody_yet_ ? nullptr : back}) {
        while (unused != nullptr) {
            flow *const next = unused->next;
            source_.destroy(unused);
            unused = next;
        }
    }
}

flow &flow_store::take(waiter &place) noexcept
{
    while (idle_ == nullptr) {
        idle_ = returned_.exchange(nullptr, std::memory_order_acquire);
        if (idle_ == nullptr && made_ < limit_) {
            idle_ = make();
        }
        if (idle_ == nullptr) {
            wait_for_one(place);
        }
    }
    flow *const taken = idle_;
    idle_ = taken->next;
    taken->next = nullptr;
    return *taken;
}

void flow_store::put_back(flow &unused) noexcept
{
    unused.next = idle_;
    idle_ = &unused;
}

void flow_store::give_back(flow &finished) noexcept
{
    flow *top = returned_.load(std::memory_order_acquire);
    do {
        finished.next = top == &nobody_yet_ ? nullptr : top;
    } while (!returned_.compare_exchange_weak(top, &finished, std::memory_order_acq_rel, std::memory_order_acquire));
    if (top == &nobody_yet_) {
        place_->wake();
    }
}

void flow_store::give_back_here(flow &finished) noexcept
{
    if (returned_.load(std::memory_order_relaxed) == &nobody_yet_) {
        give_back(finished);
    } else {
        put_back(finished);
    }
}

void flow_store::cancel_all() noexcept
{
    for (flow *each = last_made_.load(std::memory_order_acquire); each != nullptr; each = each->made_before) {
        each->cancel();
    }
}

flow *flow_store::make() noexcept
{
    flow *const made = source_.create();
    if (made != nullptr) {
        made_ += 1;
        made->made_before = last_made_.load(std::memory_order_relaxed);
        last_made_.store(made, std::memory_order_release);
    }
    return made;
}

void flow_store::wait_for_one(waiter &place) noexcept
{
    place_ = &place;
    flow *none = nullptr;
    if (returned_.compare_exchange_strong(none, &nobody_yet_, std::memory_order_acq_rel, std::memory_order_relaxed)) {
        place.wait();
    }
}

} // namespace flux
