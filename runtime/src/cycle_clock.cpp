#include "flux/cycle_clock.hpp"

#include <thread>

namespace flux {
namespace {

using clock = std::chrono::steady_clock;

/// Both clocks, read at one time.
struct reading {
    std::uint64_t count;
    clock::time_point time;
};

// The best of a few, as the thread may be interrupted between the two.
reading read_both() noexcept
{
    constexpr int tries = 10;
    reading best = {};
    std::uint64_t shortest = ~std::uint64_t{0};
    for (int number = 0; number < tries; ++number) {
        const std::uint64_t before = cycle_clock::now();
        const clock::time_point time = clock::now();
        const std::uint64_t after = cycle_clock::now();
        if (after - before < shortest) {
            shortest = after - before;
            best = {before, time};
        }
    }
    return best;
}

} // namespace

std::uint64_t cycle_clock::counts_in(std::chrono::nanoseconds time) noexcept
{
    const reading first = read_both();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const reading second = read_both();
    const double rate = static_cast<double>(second.count - first.count) /
                        static_cast<double>(std::chrono::nanoseconds(second.time - first.time).count());
    return static_cast<std::uint64_t>(rate * static_cast<double>(time.count()));
}

} // namespace flux
