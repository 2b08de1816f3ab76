/// \file
/// How long flows take on each path, of those that are timed (`flow_timing.hpp`), and what that went to.
///
/// There is one of these for a server, with room for so many paths: those that timed flows take first. As few flows are
/// timed, a path that many take is among them, if there are not many paths. What has no room is counted.
#pragma once

#include "flux/flow/divided_time.hpp"
#include "flux/flow/outcome.hpp"
#include "flux/flow/histogram.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace flux {

/// How a flow came to its end.
struct flow_end {
    std::size_t source = 0;
    outcome exit = outcome::done;
    /// Whether it failed only as its client had no more requests.
    bool is_input_end = false;
    /// The number of its path among those to this exit (`paths.hpp`).
    std::uint64_t path = 0;

    bool operator==(const flow_end &) const noexcept = default;
};

/// What the flows of a path had taken when that was asked.
struct path_time_counts {
    flow_end of;
    histogram_counts whole;
    /// What that went to, together, in nanoseconds: by `time_kind`.
    std::array<std::uint64_t, time_kind_count> sums_ns;
};

/// The times of paths. Any thread adds, any thread asks.
class path_times
{
  public:
    /// So many paths have room.
    static constexpr std::size_t most = 256;

    path_times() = default;
    ~path_times();
    path_times(const path_times &) = delete;
    path_times &operator=(const path_times &) = delete;

    /// A flow came to this end and took this long; it stands for so many, itself among them. O(`most`) where there are
    /// as many paths, and else O(1).
    void add(const flow_end &of, const divided_time &time, std::uint32_t times) noexcept;

    /// All paths that have room. Throws `std::bad_alloc`.
    std::vector<path_time_counts> counts() const;

    /// How many flows took paths that have none.
    std::uint64_t left_out() const noexcept { return left_out_.load(std::memory_order_relaxed); }

  private:
    struct entry;

    entry *find(const flow_end &of) noexcept;

    // By a hash of the end, or the next free place.
    std::array<std::atomic<entry *>, most> entries_ = {};
    std::atomic<std::uint64_t> left_out_{0};
};

} // namespace flux
