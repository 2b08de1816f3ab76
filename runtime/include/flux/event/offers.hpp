/// \file
/// The branches that flows offer to the event loops, for any of these to run.
#pragma once

#include "flux/flow/branch_list.hpp"

#include <atomic>
#include <cstddef>
#include <mutex>

namespace flux {

/// Branches that nobody has begun.
class offers
{
  public:
    /// Appends the branch.
    void push(branch_base &unstarted) noexcept
    {
        const std::lock_guard alone(lock_);
        list_.push(unstarted);
        ++size_;
    }

    /// Takes the branch out, if it is still there.
    bool take_back(branch_base &offered) noexcept
    {
        const std::lock_guard alone(lock_);
        const bool taken = list_.take_back(offered);
        size_ -= taken;
        return taken;
    }

    /// Takes the first branch; null where there is none.
    branch_base *pop() noexcept
    {
        // Most often it is known without the lock that there is none.
        if (empty()) {
            return nullptr;
        }
        const std::lock_guard alone(lock_);
        branch_base *const begun = list_.pop();
        size_ -= begun != nullptr;
        return begun;
    }

    /// Whether there is none.
    bool empty() const noexcept { return size_.load() == 0; }

  private:
    std::mutex lock_;
    branch_list list_;
    std::atomic<std::size_t> size_{0};
};

} // namespace flux
