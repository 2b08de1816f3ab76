/// \file
/// How long flows waited for a constraint and held it, in histograms, those that read apart from those that change; and
/// for which keys they waited most, how many keys there are, and how soon they come again.
///
/// There is one for each constraint of a server. All threads add to it, but only where a flow had to wait, for the few
/// holds that are timed (`constraint_counts.hpp`), and for keys that have not come before.
#pragma once

#include "flux/flow/distinct_keys.hpp"
#include "flux/flow/hot_keys.hpp"
#include "flux/flow/reuse_distances.hpp"
#include "flux/flow/time_histogram.hpp"

#include <vector>

namespace flux {

/// What they had counted when they were asked: of those that read or of those that change.
struct hold_counts {
    /// All waits, and all holds as far as those that were timed show them.
    time_counts waits;
    time_counts holds;
};

/// The same of a constraint.
struct constraint_time_counts {
    hold_counts readers;
    hold_counts writers;
    /// For which keys flows waited, the most first; none where there are none, or where they are left out.
    std::vector<hot_key> keys;
    /// How many keys were taken, to a few percent (`distinct_keys.hpp`).
    std::uint64_t distinct_keys = 0;
    /// How many others came between two uses of a key (`reuse_distances.hpp`).
    reuse_counts reuse = {};
};

/// The times of one constraint.
class constraint_times
{
  public:
    /// A flow waited so long, to read or to change.
    void waited(std::chrono::nanoseconds time, bool reads) noexcept { of(reads).waits.add(time); }
    /// It waited for this key.
    void waited_for(std::uint64_t key, shown_key shown) noexcept
    {
        if (names_keys_) {
            keys_.add(key, shown);
        }
    }
    /// Keys are left out from now on: they may be what nobody is to know. Before any comes.
    void leave_out_keys() noexcept { names_keys_ = false; }
    /// A key was taken that has this hash.
    void took(std::uint64_t hash) noexcept
    {
        distinct_keys_.add(hash);
        reuse_.add(hash);
    }
    /// A hold that was timed took so long, and stands for so many, itself among them.
    void held(std::chrono::nanoseconds time, bool reads, std::uint32_t holds) noexcept
    {
        of(reads).holds.add(time, holds);
        reuse_.used(holds);
    }

    /// What has been counted. Throws `std::bad_alloc`.
    constraint_time_counts counts() const
    {
        return {{readers_.waits.counts(), readers_.holds.counts()},
                {writers_.waits.counts(), writers_.holds.counts()},
                keys_.most(),
                distinct_keys_.count(),
                reuse_.counts()};
    }

  private:
    struct of_mode {
        time_histogram waits;
        time_histogram holds;
    };

    of_mode &of(bool reads) noexcept { return reads ? readers_ : writers_; }

    of_mode readers_;
    of_mode writers_;
    bool names_keys_ = true;
    hot_keys keys_;
    distinct_keys distinct_keys_;
    reuse_distances reuse_;
};

} // namespace flux
