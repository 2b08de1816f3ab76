/// \file
/// How long something took, many times: a histogram whose steps are as fine for nanoseconds as for hours.
///
/// It is log-linear (as HdrHistogram, G. Tene, 2012): 32 steps of equal width for each power of two, and below 64
/// nanoseconds each is counted by itself. So what is read back, the middle of a step, is off by a 64th at most. Steps
/// take memory when a time first falls among their 32 neighbours.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace flux {

/// What was counted of a step.
struct step_count {
    /// From so many nanoseconds on, to those before `end`.
    std::uint64_t begin;
    std::uint64_t end;
    std::uint64_t times;
};

/// What a histogram had counted when it was asked.
class time_counts
{
  public:
    time_counts() = default;
    /// The steps with their counts, the shortest times first, the sum of all times, in nanoseconds, and how many of
    /// them were measured.
    time_counts(std::vector<step_count> steps, std::uint64_t sum_ns, std::uint64_t measured) noexcept;

    /// Those steps that have a count.
    const std::vector<step_count> &steps() const noexcept { return steps_; }
    /// How many times were counted.
    std::uint64_t times() const noexcept { return times_; }
    /// How many of them were measured: each stands for itself and for those that were not.
    std::uint64_t measured() const noexcept { return measured_; }
    /// All of them together; exactly, where all were measured.
    std::uint64_t sum_ns() const noexcept { return sum_ns_; }
    /// A time that this part of all times do not exceed, 0.5 for the median, in nanoseconds, to a 64th; 0 where there
    /// is none.
    std::uint64_t quantile_ns(double part) const noexcept;

  private:
    std::vector<step_count> steps_;
    std::uint64_t times_ = 0;
    std::uint64_t sum_ns_ = 0;
    std::uint64_t measured_ = 0;
};

/// The histogram. Any thread adds, any thread asks.
class time_histogram
{
  public:
    time_histogram() = default;
    ~time_histogram();
    time_histogram(const time_histogram &) = delete;
    time_histogram &operator=(const time_histogram &) = delete;

    /// The number of the step that a time falls into; of the times of a step the first, which for the number behind the
    /// last step is 2^64, as 0.
    static constexpr std::size_t step_of(std::uint64_t ns) noexcept
    {
        constexpr std::uint64_t exact = 2 * steps - 1;
        const auto shift = static_cast<std::size_t>(std::countl_zero(exact) - std::countl_zero(ns | exact));
        return shift * steps + static_cast<std::size_t>(ns >> shift);
    }
    static constexpr std::uint64_t begin_of(std::size_t step) noexcept
    {
        const std::size_t shift = step < 2 * steps ? 0 : step / steps - 1;
        return shift + 5 >= 64 ? 0 : std::uint64_t{step - shift * steps} << shift;
    }

    /// It took this long, and so did so many, this one among them; a negative time counts as none. Where there is no
    /// memory, the time is lost.
    void add(std::chrono::nanoseconds time, std::uint32_t times = 1) noexcept;

    /// What has been counted. Throws `std::bad_alloc`.
    time_counts counts() const;

  private:
    static constexpr std::uint64_t steps = 32;
    static constexpr std::size_t row_count = 60;

    using row = std::array<std::atomic<std::uint64_t>, steps>;

    row *find_row(std::size_t number) noexcept;

    std::array<std::atomic<row *>, row_count> rows_ = {};
    std::atomic<std::uint64_t> sum_ns_{0};
    std::atomic<std::uint64_t> measured_{0};
};

} // namespace flux
