/// \file
/// The branches of a parallel step: they run concurrently, each on copies of the same values, and the step goes on when
/// all of them have ended. A fork and its join are in one function, so a branch lives on the stack of the flow that
/// waits for it and costs no allocation.
///
/// The flow that forks runs the first branch itself and offers the others to its strategy, which may have a thread for
/// them. Afterwards it runs those that no thread has started, and only then waits. It helps with its own branches only.
/// So a pool of one thread completes all of them, and no other flow ever runs on the stack of a flow that holds
/// constraints. (Blumofe and Leiserson, "Scheduling multithreaded computations by work stealing", JACM 46(5), 1999,
/// call this fully strict; here an idle thread takes the oldest offer and a parent its own.)
///
/// A branch has its own flow, which is a copy of the parent's except for the error, the path register, the counters and
/// the place; these are merged when all branches have ended. Branches that may not overlap, because they share a
/// constraint that is held around all of them, run one after the other on one thread.
#pragma once

#include "flux/flow/flow.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <tuple>

namespace flux {

/// A branch without the types of its values: what strategies run.
class alignas(64) branch_base : public listed<branch_base>
{
  public:
    branch_base(const branch_base &) = delete;
    branch_base &operator=(const branch_base &) = delete;

    /// Runs the branch, and those that start after it, to the end. From then on it may be gone.
    void run(runner &on) noexcept;

    /// Who runs it, or will.
    flow &of() noexcept { return own_; }

    /// For the strategy that it is offered to: whether somebody has begun with it.
    bool begun = false;

  protected:
    branch_base(flow &parent, function_number number) noexcept : number_(number) { own_.begin_branch(parent); }
    ~branch_base() = default;

  private:
    friend class fork;
    friend void start_after(branch_base &later, branch_base &earlier) noexcept;

    virtual outcome call(flow &own) noexcept = 0;

    flow own_;
    const function_number number_;
    outcome exit_ = outcome::failed;
    // The branch that starts when this one has ended.
    branch_base *then_ = nullptr;
    bool starts_at_once_ = true;
};

/// A branch that calls `function(flow, values...)`, which throws nothing; `number` is the function's in the table of
/// path functions.
template <class... Values>
class branch final : public branch_base
{
  public:
    branch(flow &parent, function_number number, outcome (*function)(flow &, Values &...), Values &...values) noexcept
        : branch_base(parent, number), function_(function), values_(values...)
    {
    }

  private:
    outcome call(flow &own) noexcept override
    {
        return std::apply([&](Values &...values) { return function_(own, values...); }, values_);
    }

    outcome (*function_)(flow &, Values &...);
    std::tuple<Values &...> values_;
};

/// Makes `later` start when `earlier` has ended, and nothing else after `earlier`.
inline void start_after(branch_base &later, branch_base &earlier) noexcept
{
    earlier.then_ = &later;
    later.starts_at_once_ = false;
}

/// Runs the first of these branches, at least one, and returns when all have arrived at the flow, whatever became of
/// them. One that runs offers the next to the strategy where there is something left for it to do; the last that has
/// begun arrives for those that have not.
void run_in_succession(flow &parent, std::span<branch_base *const> branches) noexcept;

/// Runs the branches of a step, and returns when all have ended: failed, with the error of the first that failed; else
/// ended, if one did; else done. Then the flow's path register, which must be 0, is the number of the path that they
/// took together; where `cut`, the path of each is counted by itself, and the register is 0.
outcome join_all(flow &parent, std::span<branch_base *const> branches, bool cut) noexcept;

/// Joins these branches, given in the order of the text; an earlier one never starts after a later one.
template <class... Branches>
outcome join(flow &parent, Branches &...branches) noexcept
{
    return join_all(parent, std::array<branch_base *, sizeof...(Branches)>{&branches...}, false);
}

/// As `join`, where the product of the branches' paths would not fit.
template <class... Branches>
outcome join_cut(flow &parent, Branches &...branches) noexcept
{
    return join_all(parent, std::array<branch_base *, sizeof...(Branches)>{&branches...}, true);
}

} // namespace flux
