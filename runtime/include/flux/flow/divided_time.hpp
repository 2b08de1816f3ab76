/// \file
/// A time, divided by what it went to.
#pragma once

#include "flux/flow/park_reason.hpp"

#include <array>
#include <chrono>
#include <cstddef>

namespace flux {

/// What a flow's time goes to, apart from one another.
enum class time_kind : unsigned char {
    /// It ran on a processor.
    ran,
    /// It waited for the world, or for what else its node asked for: I/O, a sleep, a lock of the node's own. Its thread
    /// slept in the kernel.
    parked,
    /// It waited for a constraint.
    waited,
    /// It was ready to run, and its thread, its loop or all processors ran others.
    queued,
    /// Its branches ran, and it waited for them.
    branched,
};

/// How many kinds there are.
inline constexpr std::size_t time_kind_count = 5;

/// The name of a kind, as reports have it.
const char *time_kind_name(time_kind of) noexcept;

/// A time of each kind.
struct divided_time {
    std::array<std::chrono::nanoseconds, time_kind_count> of;
    /// What it was parked, by the reason: a part of the above.
    std::array<std::chrono::nanoseconds, park_reason_count> parked_for;

    std::chrono::nanoseconds &operator[](time_kind kind) noexcept { return of[static_cast<std::size_t>(kind)]; }
    /// It was parked as long, and for this.
    void add_parked(park_reason reason, std::chrono::nanoseconds time) noexcept
    {
        (*this)[time_kind::parked] += time;
        parked_for[static_cast<std::size_t>(reason)] += time;
    }
    void add(const divided_time &more) noexcept;
    std::chrono::nanoseconds whole() const noexcept;
};

} // namespace flux
