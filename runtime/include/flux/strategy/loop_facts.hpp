/// \file
/// What is known of event loops and of what waits for threads, for the report.
#pragma once

#include "flux/flow/flow.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace flux {

/// A node that held its loop for more than a millisecond, so that others had to wait.
struct loop_hold {
    node_number node;
    /// How often.
    std::uint64_t times;
    /// At least so long, the longest time.
    std::chrono::nanoseconds longest;
};

/// What waits somewhere at the moment.
struct queue_length {
    /// Where: `pool`, `loop 0`, `threads for calls of files and names`, `listener 127.0.0.1:80`.
    std::string where;
    std::size_t waiting;
};

/// How much is asked for: all, or what costs little. How deep stacks are the kernel must be asked for each of them.
enum class facts_wanted : unsigned char { all, all_but_stacks };

/// What a strategy knows of its loops.
struct loop_facts {
    /// The longest first.
    std::vector<loop_hold> holds;
    /// The most bytes of stack that a flow has needed, in whole pages; 0 where there are no fibers.
    std::size_t stack_bytes = 0;
    /// How many peers each loop has accepted.
    std::vector<std::uint64_t> accepted = {};
    /// How many flows have begun on each loop.
    std::vector<std::uint64_t> flows = {};
    /// The most threads that there were at once for nodes that block.
    std::size_t blocking_threads = 0;
    /// And for calls of other nodes: for those that end by themselves, and those that wait for others.
    std::size_t call_threads = 0;
    std::size_t wait_threads = 0;
    /// Flows and branches that wait to begin, calls that wait for a thread.
    std::vector<queue_length> queues = {};
    /// How many stacks have been made, each for a flow in progress, or kept for the next.
    std::size_t stacks = 0;
};

} // namespace flux
