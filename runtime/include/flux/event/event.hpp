/// \file
/// The strategy `event`: a few threads, each with a loop that runs flows as fibers, so that a flow that waits costs its
/// stack and no thread.
///
/// A flow that starts waits at one of the loops, first in, first out. A loop that has nothing to do takes one from
/// another. Once a flow runs it stays on its loop, as the compiler and the C library keep things for a thread. So do
/// its branches: they share what the flow has, a connection say, which belongs to one loop. A flow runs on until it
/// ends or has to wait: for a constraint, it parks, and goes on when it has it. In which order a loop goes on with what
/// can run is the `scheduler`'s: what others wait for goes on soon, and nobody starves.
///
/// A source that is replicable has an instance on every loop, a fiber among the others. What it makes is pinned: it
/// starts on that loop. It runs on the source's own fiber, at once where nobody else waits, and where it does not wait
/// either the source goes on with the next, and nothing was switched. Where it waits the source goes on with another
/// fiber. So a source is never ahead of what it makes. Flows that others have put there and those of the loop's own
/// sources start in turns.
///
/// A node cannot be interrupted, but between two nodes a flow that has run for its slice of 100 µs gives way, if it
/// holds no constraint and others wait: it goes on when all have started that waited then. So a flow waits at most for
/// one node of each other.
///
/// A node that is `blocking` runs on a thread beside the loops (`blocking_pool.hpp`). Its flow waits meanwhile, as for
/// a constraint, and goes on on its own loop.
#pragma once

#include "flux/constraint/lock.hpp"
#include "flux/io/loop_io.hpp"
#include "flux/waiting/sanitizer.hpp"
#include "flux/strategy/strategy.hpp"

#include <cstddef>
#include <functional>
#include <memory>

namespace flux {

struct program;
class runners;

/// How many flows may have begun and not ended on one loop; others wait to start, as they do where there is no memory
/// for another stack. The thread sanitizer has a megabyte of its own for each fiber, and room for a few thousand.
inline constexpr std::size_t most_fibers = thread_sanitizer ? 250 : lock::max_holders;

/// Makes the I/O of a loop: `make_reactor`, say.
using make_loop_io = std::function<std::unique_ptr<loop_io>()>;

/// On how many threads beside the loops nodes may run that are `blocking`, where nothing else is said.
inline constexpr std::size_t most_blocking = 64;

/// What the strategy may have.
struct event_bounds {
    /// Fibers of each loop.
    std::size_t fibers = most_fibers;
    /// Threads for nodes that block; with 0 these run on the loops.
    std::size_t blocking = most_blocking;
};

/// So many loops, at least 1. Throws `std::system_error` where there are not so many threads to be had, or the I/O
/// cannot be, and `std::bad_alloc`.
std::unique_ptr<strategy> make_event_strategy(runners &all, const program &of, std::size_t workers,
                                              const make_loop_io &make_io, const event_bounds &bounds = {});

} // namespace flux
