#include "flux/flow/belongings.hpp"

#include "flux/flow/flow.hpp"

#include <mutex>

namespace flux {
namespace {

// Of all flows, as branches seldom get or let go anything.
constinit std::mutex one_branch_at_a_time;

std::unique_lock<std::mutex> alone_among_branches(const flow &by) noexcept
{
    return by.parent() == nullptr ? std::unique_lock(one_branch_at_a_time, std::defer_lock)
                                  : std::unique_lock(one_branch_at_a_time);
}

} // namespace

void belongings::add(belonging &own, const flow &by) noexcept
{
    const auto alone = alone_among_branches(by);
    all_.push_front(own);
}

void belongings::remove(belonging &own, const flow &by) noexcept
{
    const auto alone = alone_among_branches(by);
    all_.remove(own);
}

std::size_t belongings::end() noexcept
{
    std::size_t forgotten = 0;
    while (belonging *const each = all_.pop_front()) {
        forgotten += each->flow_has_ended() ? 1 : 0;
    }
    return forgotten;
}

} // namespace flux
