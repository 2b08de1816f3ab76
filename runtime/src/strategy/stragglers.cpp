#include "flux/strategy/stragglers.hpp"

#include <algorithm>
#include <cstdio>
#include <tuple>

namespace flux {
namespace {

std::string with_place(const node_info &node)
{
    return std::string(node.name) + " (" + node.file + ":" + std::to_string(node.line) + ")";
}

} // namespace

void stragglers::begin_look(moment now) noexcept
{
    std::erase_if(seen_, [this](const auto &each) { return each.second.last_seen != now_; });
    now_ = now;
}

void stragglers::see(source_number source, std::uint64_t flow, node_number node)
{
    const auto [found, is_new] = seen_.try_emplace({source, flow}, sight{node, now_, now_});
    sight &known = found->second;
    if (known.node != node) {
        known.node = node;
        known.since = now_;
    }
    known.last_seen = now_;
}

std::vector<straggler> stragglers::flows() const
{
    std::vector<straggler> flows;
    for (const auto &[who, known] : seen_) {
        if (known.last_seen == now_) {
            const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(now_ - known.since);
            flows.push_back({who.first, who.second, known.node, time});
        }
    }
    return flows;
}

std::vector<straggler_group> stragglers::groups() const
{
    std::map<std::pair<source_number, node_number>, straggler_group> by_place;
    for (const straggler &each : flows()) {
        const straggler_group none{each.source, each.node, 0, std::chrono::milliseconds(0)};
        straggler_group &group = by_place.try_emplace({each.source, each.node}, none).first->second;
        ++group.flows;
        group.longest = std::max(group.longest, each.time);
    }
    std::vector<straggler_group> groups;
    for (const auto &[place, group] : by_place) {
        groups.push_back(group);
    }
    std::sort(groups.begin(), groups.end(), [](const straggler_group &left, const straggler_group &right) {
        return std::tie(right.flows, left.source, left.node) < std::tie(left.flows, right.source, right.node);
    });
    return groups;
}

std::string describe(const program &of, const straggler_group &group)
{
    const std::string where = group.node < of.nodes.size() ? "in " + with_place(of.nodes[group.node])
                                                           : "before the first node";
    char time[64];
    std::snprintf(time, sizeof time, ", for %.1f s so far", std::chrono::duration<double>(group.longest).count());
    return std::to_string(group.flows) + (group.flows == 1 ? " flow of " : " flows of ") +
           with_place(of.sources[group.source].node) + " " + where + time;
}

} // namespace flux
