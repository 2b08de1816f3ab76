/// \file
/// What flows count as they go. The counters are compiled into every flow, as each is one addition in memory that the
/// flow has to itself.
#pragma once

#include <cstdint>

namespace flux {

/// How often things happened.
struct counters {
    /// Calls of nodes, abstract ones included, and of error handlers.
    std::uint64_t calls = 0;
    /// Choices among the lines of a node.
    std::uint64_t dispatches = 0;
    /// Constraints taken.
    std::uint64_t acquisitions = 0;
    /// Waits for the world: those of the source for its values too.
    std::uint64_t parks = 0;
    /// Nodes and error handlers that failed.
    std::uint64_t failures = 0;
    /// Connections that no node gave back or closed: they were closed at the end of the flow.
    std::uint64_t forgotten = 0;

    counters &operator+=(const counters &other) noexcept
    {
        calls += other.calls;
        dispatches += other.dispatches;
        acquisitions += other.acquisitions;
        parks += other.parks;
        failures += other.failures;
        forgotten += other.forgotten;
        return *this;
    }
};

} // namespace flux
