/// \file
/// The strategy `event`: a few threads, each with a loop that runs flows as fibers. A flow that waits costs its stack
/// and no thread.
///
/// A new flow waits at one of the loops, first in, first out. A loop that is idle takes one from another loop. Once a
/// flow has started it stays on its loop, because the compiler and the C library keep data for each thread. So do its
/// branches: they share what the flow has, such as a connection, which belongs to one loop. A flow runs until it ends
/// or has to wait, for a constraint for example; then it parks, and goes on when it has the constraint. The `scheduler`
/// decides the order: what others wait for goes on soon, and nothing starves.
///
/// A replicable source has an instance on every loop, as a fiber beside the flows. The flows that it makes start on
/// that loop. They run on the source's own fiber, at once if nothing else waits. If such a flow ends without waiting,
/// the source goes on with the next, and there was no switch. If it waits, the source goes on with another fiber. So a
/// source never makes flows ahead of time. Flows from other threads and those of the loop's own sources start in turns.
///
/// A node cannot be interrupted. But between two nodes a flow that has run for its slice of 100 µs gives way, if it
/// holds no constraint and others wait; it goes on when all flows that waited at that time have started. So a flow
/// waits for at most one node of each other flow.
///
/// A `blocking` node runs on a thread beside the loops (`blocking_pool.hpp`). Its flow waits meanwhile, as it does for
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
