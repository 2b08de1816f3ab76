/// \file
/// What a flow may do with I/O that never makes it wait, before it lets others go first.
///
/// A flow whose peer is always faster than itself never parks. It would hold its loop, and go on after its deadline and
/// its cancellation, as parks are where these are seen. So each call of I/O costs a unit, and one more for each 4 KiB
/// that it moves, and a flow that has spent its budget does what a park does: it gives way, if it has run for its
/// slice, and fails where its time is up or it is cancelled. A unit is about the time of a system call, and the budget
/// about half a slice: so a call reads no clock, and no flow goes on for much longer than a slice.
#pragma once

#include "flux/flow/flow.hpp"
#include "flux/moment.hpp"

#include <cstddef>
#include <cstdint>

namespace flux {

/// In units.
inline constexpr std::uint64_t io_budget = 64;

/// Lets others go first, if it is their turn: 0, or ETIMEDOUT after `deadline` or the flow's own, or ECANCELED.
int refill_io_budget(moment deadline) noexcept;

/// Before a call of I/O: 0, or as above.
inline int within_io_budget() noexcept
{
    const flow *const caller = running_flow;
    return caller == nullptr || caller->io_spent < io_budget ? 0 : refill_io_budget(never);
}

/// After it: it has moved so many bytes.
inline void spend_io_budget(std::size_t bytes) noexcept
{
    constexpr std::size_t bytes_of_unit = 4096;
    if (flow *const caller = running_flow) {
        caller->io_spent += 1 + bytes / bytes_of_unit;
    }
}

} // namespace flux
