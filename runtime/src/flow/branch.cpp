#include "flux/flow/branch.hpp"

#include "flux/flow/program.hpp"
#include "flux/strategy/runner.hpp"
#include "flux/strategy/source.hpp"
#include "flux/strategy/strategy.hpp"

#include <algorithm>

namespace flux {

/// The branches of one step, in the order of the text.
class fork
{
  public:
    fork(flow &parent, std::span<branch_base *const> branches) noexcept : parent_(parent), branches_(branches) {}

    /// Runs all of them, and returns when all have ended.
    void run() noexcept;

    /// Runs the first, which makes the others, and returns when all have ended.
    void run_first() noexcept;

    /// How the step ended; gives the flow what the branches have done.
    outcome exit() noexcept;

    /// Adds the number of the path that leads to this exit: the numbers of the branches are its digits.
    void add_path(outcome exit) noexcept;

    /// Counts the path of each branch by itself.
    void cut_path() noexcept;

  private:
    /// The flow awaits so many branches from now on; gives where it was.
    node_number begin(std::uint32_t awaited) noexcept;
    /// They have all ended, and the flow is where it was.
    void end(node_number position) noexcept;

    flow &parent_;
    std::span<branch_base *const> branches_;
};

void branch_base::run(runner &on) noexcept
{
    flow *const before = running_flow;
    for (branch_base *each = this; each != nullptr; each = each->then_) {
        running_flow = &each->own_;
        each->own_.run_on(on);
        if (flow_timing &timing = each->own_.timing(); timing.is_on()) [[unlikely]] {
            timing.runs();
        }
        each->exit_ = each->call(each->own_);
        if (flow_timing &timing = each->own_.timing(); timing.is_on()) [[unlikely]] {
            timing.ended(each->own_.position());
        }
    }
    running_flow = before;
    own_.parent()->arrived();
}

void fork::run() noexcept
{
    strategy &by = parent_.from().started_by();
    const auto at_once = [](const branch_base *each) { return each->starts_at_once_; };
    const node_number position = begin(static_cast<std::uint32_t>(std::ranges::count_if(branches_, at_once)));
    // The first starts at once, as a branch can only wait for an earlier one.
    const auto others = branches_.subspan(1);
    for (branch_base *const each : others) {
        if (at_once(each)) {
            by.offer(*each);
        }
    }
    branches_.front()->run(parent_.on());
    for (branch_base *const each : others) {
        if (at_once(each) && by.take_back(*each)) {
            each->run(parent_.on());
        }
    }
    end(position);
}

void fork::run_first() noexcept
{
    const node_number position = begin(static_cast<std::uint32_t>(branches_.size()));
    branches_.front()->run(parent_.on());
    end(position);
}

node_number fork::begin(std::uint32_t awaited) noexcept
{
    // Meanwhile its place says where the branches are that run there; afterwards the flow is where it was.
    const node_number position = parent_.position();
    if (parent_.timing().is_on()) [[unlikely]] {
        parent_.timing().called(position);
    }
    parent_.move_to(no_node);
    parent_.fork(branches_, 1 + awaited);
    return position;
}

void fork::end(node_number position) noexcept
{
    parent_.join();
    parent_.move_to(position);
    if (parent_.timing().is_on()) [[unlikely]] {
        parent_.timing().branched();
    }
}

outcome fork::exit() noexcept
{
    outcome exit = outcome::done;
    for (const branch_base *const each : branches_) {
        parent_.add_counters(each->own_);
        if (each->exit_ == outcome::failed && exit != outcome::failed) {
            parent_.fail_as(each->own_.failed_node(), each->own_.error());
            exit = outcome::failed;
        } else if (each->exit_ == outcome::ended && exit == outcome::done) {
            exit = outcome::ended;
        }
    }
    return exit;
}

void fork::add_path(outcome exit) noexcept
{
    const auto functions = parent_.from().of().path_functions;
    path_number number = 0;
    for (const branch_base *const each : branches_) {
        const path_function &of = functions[each->number_];
        const path_number own = each->own_.path();
        number = exit == outcome::done ? number * of.paths[index_of(outcome::done)] + own
                                       : number * paths_to_any(of) + first_to(of, each->exit_) + own;
    }
    parent_.add_path(number);
}

void fork::cut_path() noexcept
{
    for (const branch_base *const each : branches_) {
        parent_.on().counts().took(each->number_, each->exit_, each->own_.path());
    }
}

void run_first(flow &parent, branch_base *const &first) noexcept
{
    fork(parent, std::span(&first, 1)).run_first();
}

outcome join_all(flow &parent, std::span<branch_base *const> branches, bool cut) noexcept
{
    fork step(parent, branches);
    step.run();
    const outcome exit = step.exit();
    if (cut) {
        step.cut_path();
    } else {
        step.add_path(exit);
    }
    return exit;
}

} // namespace flux
