/// \file
/// How often each node failed with which error, and how often no handler took it: what one thread has counted.
#pragma once

#include "flux/flow/tally.hpp"
#include "flux/waiting/node_number.hpp"

#include <cstdint>
#include <vector>

namespace flux {

/// A node and an error that it failed with.
struct failure_total {
    /// `no_node` for what failed outside of a node.
    node_number node;
    int error;
    /// How often.
    std::uint64_t times;
    /// How often that was the end of a flow, as no handler took it.
    std::uint64_t unhandled;
};

/// One thread counts, any thread may ask.
class failure_counts
{
  public:
    /// A node failed, whether a handler takes it or not.
    void failed(node_number node, int error) noexcept { all_.add(key_of(node, error)); }

    /// A flow has failed by this error.
    void unhandled(node_number node, int error) noexcept { unhandled_.add(key_of(node, error)); }

    /// Adds what another has counted.
    void add(const failure_counts &other) noexcept;

    /// All of them, most frequent first. Throws `std::bad_alloc`.
    std::vector<failure_total> totals() const;

    /// A number for both.
    static std::uint64_t key_of(node_number node, int error) noexcept
    {
        return std::uint64_t{node} << 32 | static_cast<std::uint32_t>(error);
    }

  private:
    tally_table all_;
    tally_table unhandled_;
};

} // namespace flux
