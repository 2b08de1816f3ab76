/// \file
/// How many flows took which path: the counts of one thread, or the sum over threads.
///
/// Each runner (`runner.hpp`) counts by itself (`tally.hpp`), and a reader adds the counts up. If a source's flows have
/// few paths to an exit, the counts are an array indexed by the path's number; otherwise they are a table by key,
/// because most of many paths are never taken. If there is no memory for a count, that is counted as lost.
#pragma once

#include "flux/error.hpp"
#include "flux/flow/counters.hpp"
#include "flux/flow/outcome.hpp"
#include "flux/flow/paths.hpp"
#include "flux/flow/tally.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace flux {

/// Counts of the paths to one exit.
class path_table
{
  public:
    /// Up to so many paths, the table is an array.
    static constexpr path_number array_limit = 1024;

    path_table() = default;
    /// For paths numbered below `total`.
    explicit path_table(path_number total) noexcept : total_(total) {}
    ~path_table() { delete[] array_.load(std::memory_order_relaxed); }
    path_table(const path_table &) = delete;
    path_table &operator=(const path_table &) = delete;

    /// Paths are numbered below `total`; before the first is counted.
    void set_total(path_number total) noexcept { total_ = total; }

    /// The path was taken this often more. O(1). For the one writer.
    void add(path_number number, std::uint64_t times = 1) noexcept
    {
        tally *const counts = array_.load(std::memory_order_relaxed);
        if (counts != nullptr && number < total_) {
            counts[number].add(times);
        } else {
            add_slowly(number, times);
        }
    }

    /// Adds what another has counted. For the one writer.
    void add(const path_table &other) noexcept;

    /// Calls `each(number, count)` for each path that was taken. Any thread may ask.
    template <class Each>
    void visit(Each each) const
    {
        if (const tally *const counts = array_.load(std::memory_order_acquire)) {
            for (path_number number = 0; number < total_; ++number) {
                if (const std::uint64_t count = counts[number].value(); count != 0) {
                    each(number, count);
                }
            }
        }
        others_.visit(each);
    }

    /// How often there was no memory to count with.
    std::uint64_t lost() const noexcept { return others_.lost(); }

  private:
    void add_slowly(path_number number, std::uint64_t times) noexcept;

    path_number total_ = 0;
    // Of `total_`, from when the first is counted, where they are few.
    std::atomic<tally *> array_{nullptr};
    tally_table others_;
};

/// The tables for each exit, by outcome.
using path_tables = std::array<path_table, outcome_count>;

/// What became of one source's flows.
struct source_counts {
    /// Flows that started.
    std::uint64_t started = 0;
    /// How often the source failed: nothing that time.
    std::uint64_t nothing = 0;
    /// Flows that came to their end, by outcome.
    std::array<std::uint64_t, outcome_count> finished = {};
    /// Flows that came to their end otherwise, and not to be done, as they were cancelled.
    std::uint64_t cancelled = 0;
    /// What they did.
    counters counted;
    /// Where the first flow was at its end that had forgotten connections; `no_node` where none had.
    node_number first_forgot = no_node;

    /// Flows that started and have not come to their end; right when both were counted by the same threads or all
    /// threads' counts were added up.
    std::uint64_t in_progress() const noexcept { return started - all_finished(); }

    /// Flows that came to their end.
    std::uint64_t all_finished() const noexcept { return finished[0] + finished[1] + finished[2] + cancelled; }

    source_counts &operator+=(const source_counts &other) noexcept;
};

/// All counts, for one program. One thread counts, any thread may ask.
class path_counts
{
  public:
    /// Throws `std::bad_alloc`.
    explicit path_counts(const program &of);
    path_counts(path_counts &&) noexcept = default;
    ~path_counts();

    /// A flow of the source starts.
    void started(source_number source) noexcept { sources_[source].started.add(1); }

    /// The source failed; `by` is the flow that would have been, and what it did counts.
    void had_nothing(source_number source, const flow &by) noexcept;

    /// A flow of the source came to its end by this exit.
    void finished(source_number source, const flow &by, outcome exit) noexcept
    {
        source_tallies &entry = sources_[source];
        const bool is_input_end = exit == outcome::failed && by.error() == end_of_input;
        entry.add_done(by);
        (is_input_end ? entry.input_ends : entry.paths[index_of(exit)]).add(by.path());
        // Last: who waits for the flow's end finds all the rest counted.
        entry.ends_like(by, is_input_end ? outcome::done : exit).add(1);
    }

    /// A function whose paths are counted by themselves came to its end on this path.
    void took(function_number function, outcome exit, path_number number) noexcept;

    /// Adds what another has counted for the same program, but the flows that started. Throws `std::bad_alloc`.
    void add(const path_counts &other);
    /// Adds the flows that started by another's count. After `add` of all others: as what has ended has started before,
    /// there are then never more that have ended.
    void add_started(const path_counts &other) noexcept;

    /// What became of a source's flows.
    source_counts of_source(source_number source) const noexcept;
    /// The paths of a source's flows, but those below.
    const path_tables &flow_paths(source_number source) const noexcept { return sources_[source].paths; }
    /// The paths of those that count as done though a node failed, since their client has no more requests. They are
    /// numbered as those that failed.
    const path_table &input_ends(source_number source) const noexcept { return sources_[source].input_ends; }
    /// The paths through a function that were counted by themselves; null where there were none.
    const path_tables *function_paths(function_number function) const noexcept
    {
        return functions_[function].load(std::memory_order_acquire);
    }
    /// How often there was no memory to count a path with.
    std::uint64_t lost() const noexcept;

  private:
    // Each is written by a thread of its own, so they share no cache line.
    struct alignas(64) source_tallies {
        void add(const counters &more) noexcept;
        // What a flow did that came to its end, or was never started.
        void add_done(const flow &by) noexcept
        {
            add(by.counted());
            if (by.counted().forgotten != 0) [[unlikely]] {
                add_forgotten(by.counted().forgotten, by.position());
            }
        }
        void add_forgotten(std::uint64_t times, node_number first_in) noexcept;
        // Of the flows that have come to such an end.
        tally &ends_like(const flow &by, outcome exit) noexcept
        {
            const bool cut_short = exit != outcome::done && by.cancelled();
            return cut_short ? cancelled : finished[index_of(exit)];
        }

        tally started;
        tally nothing;
        std::array<tally, outcome_count> finished;
        tally cancelled;
        tally calls;
        tally dispatches;
        tally acquisitions;
        tally parks;
        tally failures;
        tally forgotten;
        std::atomic<node_number> first_forgot{no_node};
        path_tables paths;
        path_table input_ends;
    };

    path_tables &tables_of(function_number function);

    const program *program_;
    std::vector<source_tallies> sources_;
    // By the functions' numbers, from when the first path is counted.
    std::vector<std::atomic<path_tables *>> functions_;
    std::unique_ptr<tally> lost_;
};

inline void path_counts::source_tallies::add(const counters &more) noexcept
{
    calls.add(more.calls);
    dispatches.add(more.dispatches);
    acquisitions.add(more.acquisitions);
    parks.add(more.parks);
    failures.add(more.failures);
}

} // namespace flux
