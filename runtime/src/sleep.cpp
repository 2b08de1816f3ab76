#include "flux/sleep.hpp"

#include "flux/flow/flow.hpp"
#include "flux/io.hpp"
#include "flux/io/park.hpp"

#include <thread>

namespace flux {

int sleep_until(moment until) noexcept
{
    if (running_flow == nullptr) {
        std::this_thread::sleep_until(until);
        return 0;
    }
    flow &sleeper = *running_flow;
    park asleep(sleeper);
    const park_end end = asleep.wait(until);
    return end == park_end::timed_out && until <= sleeper.deadline() ? 0 : error_of(end);
}

int sleep_for(clock::duration time) noexcept
{
    return sleep_until(running_io().now() + time);
}

} // namespace flux
