// What is measured; statistics.h explains it.
#include "statistics.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>

#include <unistd.h>

namespace load {

std::int64_t latencies::percentile_ns(double percent)
{
    if (values_ns_.empty())
        return 0;
    if (sorted_ != values_ns_.size()) {
        std::sort(values_ns_.begin(), values_ns_.end());
        sorted_ = values_ns_.size();
    }
    const double rank = std::ceil(percent / 100 * static_cast<double>(values_ns_.size()));
    const auto place = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
    return values_ns_[std::min(place, values_ns_.size() - 1)];
}

double latencies::mean_ns() const
{
    const double sum = std::accumulate(values_ns_.begin(), values_ns_.end(), 0.0);
    return values_ns_.empty() ? 0 : sum / static_cast<double>(values_ns_.size());
}

double processor_time_s(int pid)
{
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    std::getline(file, line);
    // proc(5): the second field is the name in parentheses, which may contain anything; fields 14 and 15 are the times.
    const std::size_t name_end = line.rfind(')');
    if (name_end == std::string::npos)
        return -1;
    std::istringstream fields(line.substr(name_end + 1));
    std::string skipped;
    for (int field = 3; field < 14; ++field)
        fields >> skipped;
    double user_ticks = 0;
    double system_ticks = 0;
    fields >> user_ticks >> system_ticks;
    return fields ? (user_ticks + system_ticks) / static_cast<double>(sysconf(_SC_CLK_TCK)) : -1;
}

} // namespace load
