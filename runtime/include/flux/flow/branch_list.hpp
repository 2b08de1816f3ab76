/// \file
/// Branches that were offered and that nobody has begun, in the order of the offers. Who keeps the list guards it.
#pragma once

#include "flux/flow/branch.hpp"

namespace flux {

/// A list of branches, linked through themselves.
class branch_list
{
  public:
    bool empty() const noexcept { return first_ == nullptr; }

    /// Appends the branch.
    void push(branch_base &unstarted) noexcept
    {
        unstarted.previous = last_;
        (last_ == nullptr ? first_ : last_->next) = &unstarted;
        last_ = &unstarted;
    }

    /// Takes the first branch, which has begun then; null where there is none.
    branch_base *pop() noexcept
    {
        branch_base *const begun = first_;
        if (begun != nullptr) {
            take_back(*begun);
        }
        return begun;
    }

    /// Takes this branch out, which has begun then; false where it had before.
    bool take_back(branch_base &offered) noexcept
    {
        if (offered.begun) {
            return false;
        }
        (offered.previous == nullptr ? first_ : offered.previous->next) = offered.next;
        (offered.next == nullptr ? last_ : offered.next->previous) = offered.previous;
        return offered.begun = true;
    }

  private:
    branch_base *first_ = nullptr;
    branch_base *last_ = nullptr;
};

} // namespace flux
