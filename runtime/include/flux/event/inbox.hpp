/// \file
/// The flows that wait to start at one loop: first in, first out. Any thread may add and remove flows. The queue has no
/// bound of its own, because each source bounds its flows.
#pragma once

#include "flux/event/scheduler.hpp"
#include "flux/list/intrusive_list.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>

namespace flux {

class flow;

/// A queue of flows, linked through the flows themselves: it allocates nothing.
class inbox
{
  public:
    /// Appends the flow.
    void push(flow &started) noexcept;

    /// Takes the first flow; null where there is none.
    flow *pop() noexcept;

    /// Whether there is none.
    bool empty() const noexcept { return taken_.load() == pushed_.load(); }

    /// How many were ever appended, and how many taken.
    queue_counts counts() const noexcept { return {pushed_.load(), taken_.load()}; }

  private:
    std::mutex lock_;
    intrusive_list<flow> list_;
    std::atomic<std::uint64_t> pushed_{0};
    std::atomic<std::uint64_t> taken_{0};
};

} // namespace flux
