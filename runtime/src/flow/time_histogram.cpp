#include "flux/flow/time_histogram.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <utility>

namespace flux {

time_counts::time_counts(std::vector<step_count> steps, std::uint64_t sum_ns, std::uint64_t measured) noexcept
    : steps_(std::move(steps)), sum_ns_(sum_ns), measured_(measured)
{
    for (const step_count &each : steps_) {
        times_ += each.times;
    }
}

std::uint64_t time_counts::quantile_ns(double part) const noexcept
{
    const auto wanted = static_cast<std::uint64_t>(std::ceil(part * static_cast<double>(times_)));
    std::uint64_t so_far = 0;
    for (const step_count &each : steps_) {
        so_far += each.times;
        if (so_far >= std::max<std::uint64_t>(wanted, 1)) {
            return each.begin + (each.end - each.begin) / 2;
        }
    }
    return 0;
}

time_histogram::~time_histogram()
{
    for (const std::atomic<row *> &each : rows_) {
        delete each.load(std::memory_order_relaxed);
    }
}

time_histogram::row *time_histogram::find_row(std::size_t number) noexcept
{
    row *found = rows_[number].load(std::memory_order_acquire);
    if (found != nullptr) {
        return found;
    }
    std::unique_ptr<row> made(new (std::nothrow) row{});
    // Whoever is first puts his there; the others take that.
    if (made != nullptr && rows_[number].compare_exchange_strong(found, made.get())) {
        return made.release();
    }
    return found;
}

void time_histogram::add(std::chrono::nanoseconds time, std::uint32_t times) noexcept
{
    const auto ns = static_cast<std::uint64_t>(std::max<std::chrono::nanoseconds::rep>(time.count(), 0));
    const std::size_t step = step_of(ns);
    if (row *const counts = find_row(step / steps)) {
        (*counts)[step % steps].fetch_add(times, std::memory_order_relaxed);
        if (ns != 0) {
            sum_ns_.fetch_add(ns * times, std::memory_order_relaxed);
        }
        measured_.fetch_add(1, std::memory_order_relaxed);
    }
}

time_counts time_histogram::counts() const
{
    std::vector<step_count> counted;
    for (std::size_t number = 0; number < row_count; ++number) {
        const row *const counts = rows_[number].load(std::memory_order_acquire);
        for (std::size_t at = 0; counts != nullptr && at < steps; ++at) {
            const std::size_t step = number * steps + at;
            if (const std::uint64_t times = (*counts)[at].load(std::memory_order_relaxed); times != 0) {
                counted.push_back({begin_of(step), begin_of(step + 1), times});
            }
        }
    }
    return {std::move(counted), sum_ns_.load(std::memory_order_relaxed), measured_.load(std::memory_order_relaxed)};
}

} // namespace flux
