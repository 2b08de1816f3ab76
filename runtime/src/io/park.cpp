#include "flux/io/park.hpp"

#include "flux/flow/flow.hpp"

#include <algorithm>
#include <cerrno>

namespace flux {

int error_of(park_end end) noexcept
{
    switch (end) {
    case park_end::completed:
        return 0;
    case park_end::timed_out:
        return ETIMEDOUT;
    case park_end::cancelled:
        return ECANCELED;
    }
    return 0;
}

park::park(flow &by, park_reason reason) noexcept : flow_(by), reason_(reason)
{
    flow_.count_park();
    flow_.cancelling().open_park();
}

park_end park::wait(moment deadline) noexcept
{
    const time_away parked(flow_.timing(), reason_);
    cancellation &word = flow_.cancelling();
    waiter &place = flow_.place();
    // Whoever else ends the park wakes the flow once, and that is always waited for.
    const bool ends_at_once = word.cancelled() && word.end_park(park_end::cancelled);
    if (!ends_at_once && !place.wait_until(std::min(deadline, flow_.deadline())) &&
        !word.end_park(park_end::timed_out)) {
        place.wait();
    }
    return word.ended();
}

bool park::end(park_end how) noexcept
{
    if (!flow_.cancelling().end_park(how)) {
        return false;
    }
    flow_.place().wake();
    return true;
}

} // namespace flux
