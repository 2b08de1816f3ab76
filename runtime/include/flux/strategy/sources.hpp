/// \file
/// The sources of a server, and what each of them runs on.
///
/// A source has its own thread. But under a strategy with event loops a replicable source has an instance on every loop
/// instead, as a fiber beside the flows. What it makes starts on that loop and stays there, with all that belongs to
/// it, so threads never share any of it. The instances divide the source's bound of flows in progress among them; if
/// the bound is less than the number of loops, only so many loops have an instance. A timer only waits for its next
/// beat, so it is a fiber too, on one of the loops; its flows start on any of them.
#pragma once

#include "flux/strategy/source.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

namespace flux {

/// Whether the source of this number runs on loop number `loop` of so many, if it is not bounded to fewer.
inline bool runs_on_loop(const program &of, source_number number, std::size_t loop, std::size_t loops) noexcept
{
    const source_info &info = of.sources[number];
    return info.replicable || (info.period_ms != 0 && loop == number % loops);
}

/// All instances of all sources.
class sources
{
  public:
    /// Throws `std::bad_alloc`.
    sources(const program &of, const flow_settings &flows, strategy &by, runners &all);

    /// They make flows from now on. Throws `std::system_error`.
    void start();

    /// As `source::stop`, for each.
    void stop() noexcept;

    /// As `source::cancel_flows`, for each.
    void cancel_flows() noexcept;

    /// Whether none makes further values.
    bool ended() const noexcept;

    /// The first that still does; null where none does.
    const source_info *first_not_ended() const noexcept;

    /// As `source::look_at_flows`, for each.
    void look_at_flows(stragglers &by) const;

    /// How many flows were made for all of them, and their memory together, in bytes. Any thread calls this.
    std::pair<std::size_t, std::size_t> flows_made() const noexcept;

    /// Waits until their threads are gone; they have `ended`.
    void join();

  private:
    std::vector<std::unique_ptr<source>> all_;
};

} // namespace flux
