#include "flux/flow/flow_times.hpp"

#include <memory>
#include <new>

namespace flux {

void divided_times::add(const divided_time &time, std::uint32_t times) noexcept
{
    whole.add(time.whole(), times);
    for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
        of[kind].add(time.of[kind], times);
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
                counts.of[kind] = timed->of[kind].counts();
            }
            for (std::size_t reason = 0; reason < park_reason_count; ++reason) {
                counts.parked_for[reason] = timed->parked_for[reason].counts();
            }
        }
    }
    return all;
}

} // namespace flux
