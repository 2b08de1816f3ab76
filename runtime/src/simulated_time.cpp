#include "flux/simulated_time.hpp"

#include <algorithm>
#include <cstdio>

namespace flux {
namespace {

/// How long the work between two looks at the world takes at most.
constexpr std::chrono::microseconds longest_work{20};

moment next_tick(moment at) noexcept
{
    return moment(std::chrono::ceil<std::chrono::milliseconds>(at.time_since_epoch()));
}

} // namespace

std::uint64_t simulated_time::draw(std::uint64_t bound) noexcept
{
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    // The bounds are small, so that some numbers come a little more often does not matter.
    return (mixed ^ (mixed >> 31)) % bound;
}

void simulated_time::after(std::chrono::nanoseconds time, event happens)
{
    events_.emplace(std::pair(now_ + time, draw(UINT64_MAX)), std::move(happens));
}

void simulated_time::soon(std::chrono::nanoseconds longest, event happens)
{
    const std::chrono::nanoseconds time(draw(static_cast<std::uint64_t>(longest.count()) + 1));
    const bool on_tick = chance(500);
    after(on_tick ? next_tick(now_ + time) - now_ : time, std::move(happens));
}

bool simulated_time::advance(moment until)
{
    if (until <= now_) {
        now_ += std::chrono::nanoseconds(draw(std::chrono::nanoseconds(longest_work).count()));
    } else if (events_.empty() && until == never) {
        return false;
    } else {
        now_ = std::max(now_, events_.empty() ? until : std::min(until, events_.begin()->first.first));
    }
    // Each that is due comes now or at the next look, but for the first where nothing else has come: so what is due at
    // the instant of a deadline comes before or after it.
    while (!events_.empty() && events_.begin()->first.first <= now_) {
        const bool may_wait = now_ >= until || !next_.empty();
        if (may_wait && chance(300)) {
            break;
        }
        next_.push_back(std::move(events_.begin()->second));
        events_.erase(events_.begin());
    }
    return true;
}

void simulated_time::happen()
{
    for (const event &each : std::exchange(next_, {})) {
        each();
    }
}

void simulated_time::forget()
{
    // What goes with an event may let others happen.
    while (!next_.empty() || !events_.empty()) {
        std::exchange(next_, {});
        std::exchange(events_, {});
    }
}

void simulated_time::note(std::string_view what)
{
    const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(now_ - start).count();
    char time[32];
    const int length = std::snprintf(time, sizeof time, "%10.3f  ", static_cast<double>(since) / 1000.0);
    trace_.append(time, static_cast<std::size_t>(length)).append(what).push_back('\n');
}

} // namespace flux
