/// \file
/// How long nodes and flows take: what all timed flows of a server (`flow_timing.hpp`) have added up, in histograms.
///
/// There is one of these for a server. Few flows are timed, so any thread adds to the same histograms.
#pragma once

#include "flux/flow/divided_time.hpp"
#include "flux/flow/path_times.hpp"
#include "flux/flow/time_histogram.hpp"
#include "flux/waiting/node_number.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <vector>

namespace flux {

/// Histograms of times, whole and divided.
struct divided_times {
    time_histogram whole;
    /// Of those times alone that have some of it; of the others it was none.
    std::array<time_histogram, time_kind_count> of;
    std::array<time_histogram, park_reason_count> parked_for;

    /// It took this long, and stands for so many like it.
    void add(const divided_time &time, std::uint32_t times) noexcept;
};

/// What they had counted when they were asked, of one node or source.
struct divided_counts {
    /// Of the node or the source.
    std::size_t number;
    time_counts whole;
    /// Of all times.
    std::array<time_counts, time_kind_count> of;
    /// Of those alone that have some of it.
    std::array<time_counts, park_reason_count> parked_for;
};

/// The times of one server.
class flow_times
{
  public:
    /// For so many nodes and sources. Throws `std::bad_alloc`.
    flow_times(std::size_t nodes, std::size_t sources) : nodes_(nodes), sources_(sources) {}
    ~flow_times();
    flow_times(const flow_times &) = delete;
    flow_times &operator=(const flow_times &) = delete;

    /// A call of a node took this long; a flow of a source did, from when it was made to its end. It stands for so many
    /// that were not timed, with itself. Where there is no memory, that is lost.
    void add_node(node_number node, const divided_time &time, std::uint32_t times) noexcept
    {
        add(nodes_, node, time, times);
    }
    void add_flow(const flow_end &of, const divided_time &time, std::uint32_t times) noexcept
    {
        add(sources_, of.source, time, times);
        paths_.add(of, time, times);
    }

    /// What a thread has had of a processor was read for a timed flow, which takes some time itself.
    void count_reading() noexcept { readings_.fetch_add(1, std::memory_order_relaxed); }
    std::uint64_t readings() const noexcept { return readings_.load(std::memory_order_relaxed); }

    /// No flow is timed from now on, or as usual: so that it can be seen what that costs. Any thread says so.
    void leave_out(bool all) noexcept { leaves_out_.store(all, std::memory_order_relaxed); }
    bool leaves_out() const noexcept { return leaves_out_.load(std::memory_order_relaxed); }

    /// All, as far as those that were timed show it. Throws `std::bad_alloc`.
    std::vector<divided_counts> of_nodes() const { return counts_of(nodes_); }
    std::vector<divided_counts> of_sources() const { return counts_of(sources_); }
    /// Of the paths of flows.
    const path_times &of_paths() const noexcept { return paths_; }

  private:
    using table = std::vector<std::atomic<divided_times *>>;

    static void add(table &to, std::size_t number, const divided_time &time, std::uint32_t times) noexcept;
    static std::vector<divided_counts> counts_of(const table &of);

    table nodes_;
    table sources_;
    path_times paths_;
    std::atomic<std::uint64_t> readings_{0};
    std::atomic<bool> leaves_out_{false};
};

} // namespace flux
