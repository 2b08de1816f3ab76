#include "flux/flow/each.hpp"

#include "flux/strategy/source.hpp"
#include "flux/strategy/strategy.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>

namespace flux {
namespace {

constexpr std::size_t nowhere_in_list = std::numeric_limits<std::size_t>::max();

/// Runs instances, one after the other.
class slot final : public branch_base
{
  public:
    /// `later` are the slots that may begin after this one has.
    slot(flow &parent, instances &all, std::span<branch_base *const> later) noexcept
        : branch_base(parent, all.number()), all_(all), later_(later)
    {
    }

    /// The place of the first instance that failed here; that of none is after all.
    std::size_t failed_at() const noexcept { return failed_at_; }
    /// Makes the error of that instance the parent's.
    void fail(flow &parent) const noexcept { parent.fail_as(failed_node_, error_); }
    /// Whether an instance here ended the flow.
    bool ended() const noexcept { return ended_; }

  private:
    outcome call(flow &own) noexcept override
    {
        strategy &by = own.from().started_by();
        const bool offers = !later_.empty() && all_.some_are_left();
        if (offers) {
            by.offer(*later_.front());
        }
        run_instances(own);
        // Whoever has begun with the next sees to those after it.
        if (!offers || by.take_back(*later_.front())) {
            std::ranges::for_each(later_, [&](auto &&) { own.parent()->arrived(); });
        }
        return outcome::done;
    }

    void run_instances(flow &own) noexcept
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
    }

    instances &all_;
    const std::span<branch_base *const> later_;
    std::size_t failed_at_ = nowhere_in_list;
    node_number failed_node_ = no_node;
    int error_ = 0;
    bool ended_ = false;
};

/// Runs the slots, one for each of `branches`, whose places these are.
outcome run_slots(flow &parent, instances &all, std::span<std::optional<slot>> slots,
                  std::span<branch_base *> branches) noexcept
{
    for (std::size_t number = 0; number < slots.size(); ++number) {
        branches[number] = &slots[number].emplace(parent, all, branches.subspan(number + 1));
    }
    run_in_succession(parent, branches);
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

} // namespace

outcome run_all(flow &parent, instances &all, std::int64_t width)
{
    const std::size_t count = std::min(static_cast<std::size_t>(std::max<std::int64_t>(width, 1)), all.count());
    if (count == 0) {
        return outcome::done;
    }
    // A few stand on the stack, as branches do.
    constexpr std::size_t few = 8;
    if (count <= few) {
        std::array<std::optional<slot>, few> slots;
        std::array<branch_base *, few> branches;
        return run_slots(parent, all, std::span(slots).first(count), std::span(branches).first(count));
    }
    std::vector<std::optional<slot>> slots(count);
    std::vector<branch_base *> branches(count);
    return run_slots(parent, all, slots, branches);
}

} // namespace flux
