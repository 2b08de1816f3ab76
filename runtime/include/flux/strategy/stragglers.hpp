/// \file
/// Flows that are in progress: of which source, at which node, for how long.
///
/// Who wants to know looks again and again, and passes on what it has seen: the function that waits for flows to end,
/// and the admin interface. A flow pays nothing
/// for that except that it records when it begins and ends: the time at its node is known from the first look on.
#pragma once

#include "flux/flow/paths.hpp"
#include "flux/flow/program.hpp"
#include "flux/moment.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace flux {

/// Flows of one source at one node.
struct straggler_group {
    source_number source;
    /// `no_node` where they have not come to one.
    node_number node;
    std::size_t flows;
    /// How long the one that has been there for longest has been seen there.
    std::chrono::milliseconds longest;
};

/// A flow at a node.
struct straggler {
    source_number source;
    /// Its number among the flows of its source.
    std::uint64_t flow;
    /// `no_node` where it has not come to one.
    node_number node;
    /// How long it has been seen there.
    std::chrono::milliseconds time;
};

/// What has been seen.
class stragglers
{
  public:
    /// A look at this time begins. Who was not seen in the one before has ended.
    void begin_look(moment now) noexcept;

    /// It sees this flow. Throws `std::bad_alloc`.
    void see(source_number source, std::uint64_t flow, node_number node);

    /// Whom the last look has seen, by their sources and numbers. Throws `std::bad_alloc`.
    std::vector<straggler> flows() const;

    /// What the last look has seen, where most are first. Throws `std::bad_alloc`.
    std::vector<straggler_group> groups() const;

  private:
    struct sight {
        node_number node;
        moment since;
        moment last_seen;
    };

    moment now_;
    std::map<std::pair<source_number, std::uint64_t>, sight> seen_;
};

/// As "3 flows of Listen (agg.flux:3) in Ask (agg.flux:7), for 30.0 s so far". Throws `std::bad_alloc`.
std::string describe(const program &of, const straggler_group &group);

} // namespace flux
