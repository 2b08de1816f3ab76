#include "flux/flow/flow_times.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

namespace flux {

namespace {

// Of all these times those that a histogram has, and none of the others.
time_counts with_none(const time_histogram &some, const time_counts &all)
{
    const time_counts counted = some.counts();
    std::vector<step_count> steps = counted.steps();
    // Others may be adding.
    const std::uint64_t none = all.times() - std::min(counted.times(), all.times());
    if (none != 0) {
        steps.insert(steps.begin(), {0, 1, none});
    }
    return {std::move(steps), counted.sum_ns(), std::max(all.measured(), counted.measured())};
}

} // namespace

void divided_times::add(const divided_time &time, std::uint32_t times) noexcept
{
    whole.add(time.whole(), times);
    // Most nodes run, and do nothing else.
    for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
        if (time.of[kind].count() > 0) {
            of[kind].add(time.of[kind], times);
        }
    }
    for (std::size_t reason = 0; reason < park_reason_count; ++reason) {
        if (time.parked_for[reason].count() > 0) {
            parked_for[reason].add(time.parked_for[reason], times);
        }
    }
}

flow_times::~flow_times()
{
    for (const table *const all : {&nodes_, &sources_}) {
        for (const std::atomic<divided_times *> &each : *all) {
            delete each.load(std::memory_order_relaxed);
        }
    }
}

void flow_times::add(table &to, std::size_t number, const divided_time &time, std::uint32_t times) noexcept
{
    if (number >= to.size()) {
        return;
    }
    divided_times *found = to[number].load(std::memory_order_acquire);
    if (found == nullptr) {
        std::unique_ptr<divided_times> made(new (std::nothrow) divided_times);
        // Whoever is first puts his there; the others take that.
        if (made != nullptr && to[number].compare_exchange_strong(found, made.get())) {
            found = made.release();
        }
    }
    if (found != nullptr) {
        found->add(time, times);
    }
}

std::vector<divided_counts> flow_times::counts_of(const table &of)
{
    std::vector<divided_counts> all;
    for (std::size_t number = 0; number < of.size(); ++number) {
        if (const divided_times *const timed = of[number].load(std::memory_order_acquire)) {
            divided_counts &counts = all.emplace_back(divided_counts{number, timed->whole.counts(), {}, {}});
            for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
                counts.of[kind] = with_none(timed->of[kind], counts.whole);
            }
            for (std::size_t reason = 0; reason < park_reason_count; ++reason) {
                counts.parked_for[reason] = timed->parked_for[reason].counts();
            }
        }
    }
    return all;
}

} // namespace flux
