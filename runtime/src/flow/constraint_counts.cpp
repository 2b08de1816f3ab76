#include "flux/flow/constraint_counts.hpp"

#include "flux/io.hpp"

namespace flux {

moment constraint_count::now() noexcept
{
    return running_io().now();
}

void constraint_count::wait(std::chrono::nanoseconds time, bool reads) noexcept
{
    const auto ns = static_cast<std::uint64_t>(time.count());
    waited_.add(1);
    waited_ns_.add(ns);
    if (reads) {
        waited_to_read_.add(1);
        waited_ns_to_read_.add(ns);
    }
    if (times_ != nullptr) {
        times_->waited(time, reads);
    }
}

void constraint_count::held(std::chrono::nanoseconds time, bool reads) noexcept
{
    timed_.add(1);
    held_ns_.add(static_cast<std::uint64_t>(time.count()));
    if (times_ != nullptr) {
        times_->held(time, reads);
    }
}

} // namespace flux
