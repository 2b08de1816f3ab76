// What is measured: every latency, kept as it is, so that every percentile is exact. A million of them take 8 MB, which
// is less than it would take to explain a histogram.
#pragma once

#include <cstdint>
#include <vector>

namespace load {

/// Latencies in nanoseconds.
class latencies {
public:
    void add(std::int64_t latency_ns)
    {
        values_ns_.push_back(latency_ns);
    }

    std::size_t count() const
    {
        return values_ns_.size();
    }

    /// The least latency that at least `percent` % of all do not exceed (the nearest rank), in nanoseconds; 0 where
    /// there are none. O(n log n) the first time after add().
    std::int64_t percentile_ns(double percent);

    /// Their average in nanoseconds; 0 where there are none.
    double mean_ns() const;

private:
    std::vector<std::int64_t> values_ns_;
    std::size_t sorted_ = 0;
};

/// The processor time that the process `pid` has used so far, all its threads, in user mode and in the kernel, in
/// seconds; negative where it cannot be read. Its resolution is that of /proc/PID/stat, a hundredth of a second.
double processor_time_s(int pid);

} // namespace load
