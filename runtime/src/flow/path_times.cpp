#include "flux/flow/path_times.hpp"

#include <memory>
#include <new>

namespace flux {

struct path_times::entry {
    flow_end of;
    histogram whole;
    std::array<std::atomic<std::uint64_t>, time_kind_count> sums_ns = {};
};

path_times::~path_times()
{
    for (const std::atomic<entry *> &each : entries_) {
        delete each.load(std::memory_order_relaxed);
    }
}

// Null where there is no room.
path_times::entry *path_times::find(const flow_end &of) noexcept
{
    // Fibonacci hashing (Knuth, "The Art of Computer Programming", volume 3, section 6.4).
    const std::uint64_t mixed =
        (of.path * 8 + index_of(of.exit) * 2 + (of.is_input_end ? 1 : 0) + (std::uint64_t{of.source} << 48)) *
        0x9e3779b97f4a7c15;
    std::unique_ptr<entry> made;
    for (std::size_t step = 0; step < most; ++step) {
        std::atomic<entry *> &place = entries_[((mixed >> 32) + step) % most];
        entry *there = place.load(std::memory_order_acquire);
        if (there == nullptr) {
            if (made == nullptr) {
                made.reset(new (std::nothrow) entry);
            }
            if (made == nullptr) {
                return nullptr;
            }
            made->of = of;
            if (place.compare_exchange_strong(there, made.get())) {
                return made.release();
            }
        }
        if (there->of == of) {
            return there;
        }
    }
    return nullptr;
}

void path_times::add(const flow_end &of, const divided_time &time, std::uint32_t times) noexcept
{
    entry *const found = find(of);
    if (found == nullptr) {
        left_out_.fetch_add(times, std::memory_order_relaxed);
        return;
    }
    found->whole.add(time.whole(), times);
    for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
        if (const auto ns = time.of[kind].count(); ns > 0) {
            found->sums_ns[kind].fetch_add(static_cast<std::uint64_t>(ns) * times, std::memory_order_relaxed);
        }
    }
}

std::vector<path_time_counts> path_times::counts() const
{
    std::vector<path_time_counts> all;
    for (const std::atomic<entry *> &each : entries_) {
        if (const entry *const one = each.load(std::memory_order_acquire)) {
            path_time_counts &counts = all.emplace_back(path_time_counts{one->of, one->whole.counts(), {}});
            for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
                counts.sums_ns[kind] = one->sums_ns[kind].load(std::memory_order_relaxed);
            }
        }
    }
    return all;
}

} // namespace flux
