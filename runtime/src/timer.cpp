#include "flux/timer.hpp"

#include <ctime>

namespace flux {

void timer::given(clock::time_point now) noexcept
{
    next_ += period_;
    if (next_ <= now) {
        next_ += (now - next_) / period_ * period_ + period_;
    }
}

bool timer::wait() noexcept
{
    // std::chrono::steady_clock is CLOCK_MONOTONIC; std::this_thread::sleep_until would go on after a signal.
    const auto since_epoch = next_.time_since_epoch();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_epoch);
    const std::timespec due{seconds.count(), (since_epoch - seconds).count()};
    return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr) == 0;
}

} // namespace flux
