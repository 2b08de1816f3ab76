#include "flux/io/budget.hpp"

#include "flux/io.hpp"

#include <algorithm>
#include <cerrno>

namespace flux {

int refill_io_budget(moment deadline) noexcept
{
    flow *const caller = running_flow;
    if (caller == nullptr) {
        return 0;
    }
    caller->io_spent = 0;
    caller->place().give_way();
    if (caller->cancelled()) {
        return ECANCELED;
    }
    const moment until = std::min(deadline, caller->deadline());
    return until != never && running_io().now() >= until ? ETIMEDOUT : 0;
}

} // namespace flux
