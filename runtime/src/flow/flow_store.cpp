#include "flux/flow/flow_store.hpp"

#include <malloc.h>

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
    for (flow *unused : {idle_, returned_.take()}) {
        while (unused != nullptr) {
            flow *const next = unused->next;
            source_.destroy(unused);
            unused = next;
        }
    }
}

// Until there is one.
void flow_store::get_more(waiter &place) noexcept
{
    while (idle_ == nullptr) {
        idle_ = returned_.take();
        if (idle_ == nullptr && made_ < limit_) {
            idle_ = make();
        }
        if (idle_ == nullptr) {
            wait_for_one(place);
        }
    }
}

void flow_store::give_back(flow &finished) noexcept
{
    if (returned_.push(finished)) {
        place_->wake();
    }
}

std::pair<std::size_t, std::size_t> flow_store::made() const noexcept
{
    std::size_t count = 0;
    flow *const last = last_made_.load(std::memory_order_acquire);
    for (const flow *each = last; each != nullptr; each = each->made_before) {
        ++count;
    }
    return {count, malloc_usable_size(last)};
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
    if (returned_.await()) {
        place.wait();
    }
}

} // namespace flux
