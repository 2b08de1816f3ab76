/// \file
/// How many flows took which path: what one thread has counted, or the sum over threads.
///
/// Each runner (`runner.hpp`) counts by itself and the counts are added up when somebody asks. Where a source's flows
/// have few paths to an exit, the counts are an array indexed by the path's number; else a hash table, as most of many
/// paths are never taken. A count that finds no memory is itself counted, as lost.
#pragma once

#include "flux/flow/counters.hpp"
#include "flux/flow/outcome.hpp"
#include "flux/flow/paths.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace flux {

/// Counts of the paths to one exit.
class path_table
{
  public:
    /// Up to so many paths, the table is an array.
    static constexpr path_number array_limit = 1024;

    /// For paths numbered below `total`.
    explicit path_table(path_number total = 0) noexcept : total_(total) {}

    /// The path was taken this often more. O(1).
    void add(path_number number, std::uint64_t times = 1) noexcept
    {
        if (number < array_.size()) {
            array_[number] += times;
        } else {
            add_slowly(number, times);
        }
    }

    /// Adds what another has counted.
    void add(const path_table &other) noexcept;

    /// Calls `each(number, count)` for each path that was taken.
    template <class Each>
    void visit(Each each) const
    {
        for (std::size_t number = 0; number < array_.size(); ++number) {
            if (array_[number] != 0) {
                each(path_number{number}, array_[number]);
            }
        }
        for (const auto &[number, count] : hashed_) {
            each(number, count);
        }
    }

    /// How often there was no memory to count with.
    std::uint64_t lost() const noexcept { return lost_; }

  private:
    void add_slowly(path_number number, std::uint64_t times) noexcept;

    path_number total_;
    std::vector<std::uint64_t> array_;
    std::unordered_map<path_number, std::uint64_t> hashed_;
    std::uint64_t lost_ = 0;
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

    /// Flows that started and have not come to their end; right when both were counted by the same threads or all
    /// threads' counts were added up.
    std::uint64_t in_progress() const noexcept { return started - all_finished(); }

    /// Flows that came to their end.
    std::uint64_t all_finished() const noexcept { return finished[0] + finished[1] + finished[2] + cancelled; }

    source_counts &operator+=(const source_counts &other) noexcept;
};

/// All counts, for one program.
class path_counts
{
  public:
    /// Throws `std::bad_alloc`.
    explicit path_counts(const program &of);

    /// A flow of the source starts.
    void started(source_number source) noexcept { sources_[source].counts.started += 1; }

    /// The source made nothing; `by` is the flow that would have been, and what it did counts.
    void made_nothing(source_number source, const flow &by) noexcept;

    /// A flow of the source came to its end by this exit.
    void finished(source_number source, const flow &by, outcome exit) noexcept
    {
        source_entry &entry = sources_[source];
        const bool cut_short = by.cancelled() && exit != outcome::done;
        (cut_short ? entry.counts.cancelled : entry.counts.finished[index_of(exit)]) += 1;
        entry.counts.counted += by.counted();
        entry.paths[index_of(exit)].add(by.path());
    }

    /// A function whose paths are counted by themselves came to its end on this path.
    void took(function_number function, outcome exit, path_number number) noexcept;

    /// Adds what another has counted for the same program. Throws `std::bad_alloc`.
    void add(const path_counts &other);

    /// What became of a source's flows.
    const source_counts &of_source(source_number source) const noexcept { return sources_[source].counts; }
    /// The paths of a source's flows.
    const path_tables &flow_paths(source_number source) const noexcept { return sources_[source].paths; }
    /// The paths that were counted by themselves, by function.
    const std::map<function_number, path_tables> &function_paths() const noexcept { return functions_; }
    /// How often there was no memory to count a path with.
    std::uint64_t lost() const noexcept;

  private:
    struct source_entry {
        source_counts counts;
        path_tables paths;
    };

    path_tables &tables_of(function_number function);

    const program &program_;
    std::vector<source_entry> sources_;
    std::map<function_number, path_tables> functions_;
    std::uint64_t lost_ = 0;
};

} // namespace flux
