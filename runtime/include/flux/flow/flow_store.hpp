/// \file
/// The flows of one source: made when first needed, used again, never more than a bound. That is the source's bound of
/// flows in progress: when none is left, the source waits until one comes back.
///
/// One thread takes flows (the source's), many give them back.
#pragma once

#include "flux/flow/flow.hpp"
#include "flux/flow/program.hpp"
#include "flux/list/push_stack.hpp"

#include <atomic>
#include <cstddef>
#include <utility>

namespace flux {

/// The flows of one source.
class flow_store
{
  public:
    /// Makes the first flow; throws `std::bad_alloc`. `limit` is at least 1.
    flow_store(const source_info &of, std::size_t limit);
    /// All flows are back, or are never ended.
    ~flow_store();
    flow_store(const flow_store &) = delete;
    flow_store &operator=(const flow_store &) = delete;

    /// One that nobody uses. Waits at `place` while the bound is reached or there is no memory for another. Only the
    /// source's thread calls this.
    flow &take(waiter &place) noexcept
    {
        if (idle_ == nullptr) [[unlikely]] {
            get_more(place);
        }
        return *std::exchange(idle_, idle_->next);
    }

    /// Gives back what `take` gave and was not started. Only the source's thread calls this.
    void put_back(flow &unused) noexcept
    {
        unused.next = idle_;
        idle_ = &unused;
    }

    /// Gives back what `take` gave. Any thread calls this.
    void give_back(flow &finished) noexcept;

    /// As `give_back`, on the source's thread.
    void give_back_here(flow &finished) noexcept
    {
        returned_.is_awaited() ? give_back(finished) : put_back(finished);
    }

    /// Calls `each(flow)` for each flow that is in progress. Any thread calls this; flows go on meanwhile.
    template <class Each>
    void visit_in_progress(Each each) const
    {
        for (const flow *one = last_made_.load(std::memory_order_acquire); one != nullptr; one = one->made_before) {
            if (one->in_progress()) {
                each(*one);
            }
        }
    }

    /// How many flows were made, and how many bytes each has. Any thread calls this.
    std::pair<std::size_t, std::size_t> made() const noexcept;

    /// Cancels all flows that were ever made: those that nobody uses do not mind. Any thread calls this.
    void cancel_all() noexcept;

  private:
    flow *make() noexcept;
    void get_more(waiter &place) noexcept;
    void wait_for_one(waiter &place) noexcept;

    const source_info &source_;
    const std::size_t limit_;
    std::size_t made_ = 0;
    // The last of all flows, linked through themselves.
    std::atomic<flow *> last_made_{nullptr};
    flow *idle_ = nullptr;
    waiter *place_ = nullptr;
    // What came back; the next is awaited while the source waits.
    push_stack<flow> returned_;
};

} // namespace flux
