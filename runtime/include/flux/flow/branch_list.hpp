/// \file
/// Branches that were offered and that nobody has begun, in the order of the offers. Who keeps the list guards it.
#pragma once

#include "flux/flow/branch.hpp"
#include "flux/list/intrusive_list.hpp"

namespace flux {

/// Branches, first in, first out.
class branch_list
{
  public:
    bool empty() const noexcept { return list_.empty(); }

    /// Appends the branch.
    void push(branch_base &unstarted) noexcept { list_.push_back(unstarted); }

    /// Takes the first branch, which has begun then; null where there is none.
    branch_base *pop() noexcept
    {
        branch_base *const first = list_.pop_front();
        if (first != nullptr) {
            first->begun = true;
        }
        return first;
    }

    /// Takes this branch out, which has begun then; false where it had before.
    bool take_back(branch_base &offered) noexcept
    {
        if (offered.begun) {
            return false;
        }
        list_.remove(offered);
        return offered.begun = true;
    }

  private:
    intrusive_list<branch_base> list_;
};

} // namespace flux
