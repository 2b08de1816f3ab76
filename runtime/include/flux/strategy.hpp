/// \file
/// What runs flows. The generated code is the same under every strategy; one is chosen when the server starts.
#pragma once

#include "flux/options.hpp"

#include <memory>

namespace flux {

class flow;
class runner;
class runners;

/// Runs the flows that sources start.
class strategy
{
  public:
    virtual ~strategy() = default;

    /// Sees to it that the flow runs to its end. Called by the flow's source, whose runner is `of_source`. It may take
    /// its time, which holds the source back; it cannot fail.
    virtual void start(flow &made, runner &of_source) noexcept = 0;

    /// All flows have ended and no source runs any more: ends its threads, and returns when they are gone.
    virtual void finish() noexcept = 0;
};

/// A new thread for every flow; where none can be had, the source's own runs the flow.
std::unique_ptr<strategy> make_thread_strategy(runners &all);

/// So many threads behind a bounded queue. Throws `std::system_error` where not one of them can be had.
std::unique_ptr<strategy> make_pool_strategy(runners &all, std::size_t workers, std::size_t queue_capacity);

} // namespace flux
