/// \file
/// What waits for the threads of a pool. Flows wait first in, first out, and their number is bounded, so that an
/// overloaded server holds back its sources and, through the kernel's backlog, its clients. Branches of running flows
/// go before new flows, because their parents wait for them and hold threads meanwhile.
#pragma once

#include "flux/flow/branch_list.hpp"
#include "flux/list/intrusive_list.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace flux {

class flow;

/// What a thread of a pool runs next: a branch or a flow.
struct queued {
    branch_base *offered = nullptr;
    flow *started = nullptr;
};

/// A bounded queue of flows, and the branches that are offered, linked through themselves: it allocates nothing.
class queue
{
  public:
    /// For at most `capacity` flows, at least 1.
    explicit queue(std::size_t capacity) noexcept : capacity_(capacity) {}

    /// Appends the flow, waiting while the queue is full.
    void push(flow &started) noexcept;

    /// Appends the branch, at once.
    void offer(branch_base &unstarted) noexcept;

    /// Takes the branch out, if it is still there.
    bool take_back(branch_base &offered) noexcept;

    /// Takes the first branch, or else the first flow, waiting while there is none; nothing when the queue is closed
    /// and empty.
    queued pop() noexcept;

    /// Nothing will be pushed any more.
    void close() noexcept;

    /// How many flows and branches are in it. Any thread may ask.
    std::size_t size() const noexcept;

    // For the one who watches it.

    /// Returns when more stands in the queue than threads wait for; false when the queue is closed.
    bool await_backlog() noexcept;

    /// How much stands in the queue, if that is more than threads wait for and none is taken in this time; else 0.
    std::size_t stands_still_for(std::chrono::milliseconds time) noexcept;

  private:
    bool has_backlog() const noexcept { return size_ + branches_ > idle_; }
    void pushed(std::unique_lock<std::mutex> &guard) noexcept;

    const std::size_t capacity_;
    mutable std::mutex lock_;
    std::condition_variable not_full_;
    std::condition_variable not_empty_;
    // For the one who watches.
    std::condition_variable backlog_;
    bool watcher_rests_ = false;
    std::size_t taken_ = 0;
    std::size_t size_ = 0;
    std::size_t branches_ = 0;
    std::size_t idle_ = 0;
    bool closed_ = false;
    intrusive_list<flow> started_;
    branch_list offered_;
};

} // namespace flux
