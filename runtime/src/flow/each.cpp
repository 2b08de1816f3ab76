#include "flux/flow/each.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace flux {
namespace {

constexpr std::size_t nowhere_in_list = std::numeric_limits<std::size_t>::max();

/// Runs instances, one after the other.
class slot final : public branch_base
{
  public:
    slot(flow &parent, instances &all) noexcept : branch_base(parent, all.number()), all_(all) {}

    /// The place of the first instance that failed here; that of none is after all.
    std::size_t failed_at() const noexcept { return failed_at_; }
    /// Makes the error of that instance the parent's.
    void fail(flow &parent) const noexcept { parent.fail_as(failed_node_, error_); }
    /// Whether an instance here ended the flow.
    bool ended() const noexcept { return ended_; }

  private:
    outcome call(flow &own) noexcept override
    {
        for (std::size_t place; (place = all_.take()) < all_.count();) {
            const outcome exit = all_.call(own, place);
            own.cut_path(0, all_.number(), exit);
            if (exit == outcome::failed && failed_at_ == nowhere_in_list) {
                failed_at_ = place;
                failed_node_ = own.failed_node();
                error_ = own.error();
            }
            ended_ |= exit == outcome::ended;
        }
        return outcome::done;
    }

    instances &all_;
    std::size_t failed_at_ = nowhere_in_list;
    node_number failed_node_ = no_node;
    int error_ = 0;
    bool ended_ = false;
};

} // namespace

outcome run_all(flow &parent, instances &all, std::int64_t width)
{
    const std::size_t wanted = static_cast<std::size_t>(std::max<std::int64_t>(width, 1));
    std::vector<std::optional<slot>> slots(std::min(wanted, all.count()));
    std::vector<branch_base *> branches;
    branches.reserve(slots.size());
    for (std::optional<slot> &one : slots) {
        branches.push_back(&one.emplace(parent, all));
    }
    if (branches.empty()) {
        return outcome::done;
    }
    run_branches(parent, branches);
    const slot *first = nullptr;
    bool ended = false;
    for (std::optional<slot> &one : slots) {
        parent.add_counters(one->of());
        if (one->failed_at() < (first == nullptr ? nowhere_in_list : first->failed_at())) {
            first = &*one;
        }
        ended |= one->ended();
    }
    if (first != nullptr) {
        first->fail(parent);
        return outcome::failed;
    }
    return ended ? outcome::ended : outcome::done;
}

} // namespace flux
