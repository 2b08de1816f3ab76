/// \file
/// Whether the node that runs on a loop holds it: what the watchdog (`watchdog.hpp`) makes of its looks at one loop. It
/// reads no clock and asks no kernel, so that its rules can be tested.
///
/// A loop that is at the same node for a millisecond is suspected: from then on the watchdog asks what its thread does.
/// The node holds its loop if it has computed or slept for a millisecond since. Time in which others had the processor
/// does not count (`thread_usage.hpp`).
#pragma once

#include "flux/moment.hpp"
#include "flux/waiting/node_number.hpp"
#include "flux/waiting/thread_usage.hpp"

#include <chrono>
#include <cstdint>
#include <utility>

namespace flux {

/// What runs on a loop.
struct loop_sight {
    std::uint64_t turn = 0;
    node_number node = no_node;
    bool busy = false;

    bool operator==(const loop_sight &other) const noexcept = default;
};

/// What the watchdog knows of a loop.
class loop_suspicion
{
  public:
    /// How long a node may hold a loop.
    static constexpr std::chrono::milliseconds longest{1};

    /// This was seen. Whether it is what was seen before.
    bool is_same(const loop_sight &seen, moment at) noexcept
    {
        if (seen == seen_) {
            return true;
        }
        *this = {};
        seen_ = seen;
        since_ = at;
        return false;
    }

    /// What was seen last, and whether it has been there for so long that its thread is to be asked.
    const loop_sight &seen() const noexcept { return seen_; }
    bool is_due(moment at) const noexcept { return at - since_ >= longest; }

    /// What its thread had done, when it was asked between these times. Whether the node holds the loop.
    bool is_held(const thread_usage &usage, moment before, moment after) noexcept
    {
        if (!std::exchange(is_asked_, true)) {
            own_.begin(usage, after);
            return false;
        }
        own_.add(usage, before);
        return own_.computed() + own_.slept() >= longest;
    }

    /// What the node did since it is suspected.
    const own_time &own() const noexcept { return own_; }
    /// True once.
    bool is_to_be_counted() noexcept { return !std::exchange(is_counted_, true); }

  private:
    loop_sight seen_;
    moment since_;
    bool is_asked_ = false;
    own_time own_;
    bool is_counted_ = false;
};

} // namespace flux
