#include "flux/cpus.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sched.h>
#include <thread>

namespace flux {
namespace {

std::string content_of(const std::string &file)
{
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Of one group. The file says `max 100000`, or how many microseconds in each period.
std::size_t cpus_of_group(const std::string &folder)
{
    std::ifstream in(folder + "/cpu.max");
    std::size_t quota = 0;
    std::size_t period = 0;
    if (!(in >> quota >> period) || period == 0) {
        return 0;
    }
    return std::max<std::size_t>((quota + period - 1) / period, 1);
}

} // namespace

std::size_t cpus_of_quota(std::string_view membership, const std::string &root)
{
    // The line of cgroup v2 has neither a number of its own nor names of controllers.
    constexpr std::string_view mark = "0::";
    const std::size_t line = membership.starts_with(mark) ? 0 : membership.find("\n0::");
    if (line == std::string_view::npos) {
        return 0;
    }
    const std::size_t begin = membership.find(mark, line) + mark.size();
    std::string path(membership.substr(begin, membership.find('\n', begin) - begin));
    std::size_t fewest = 0;
    while (true) {
        const std::size_t here = cpus_of_group(root + path);
        fewest = fewest == 0 || here == 0 ? std::max(fewest, here) : std::min(fewest, here);
        if (path.empty()) {
            return fewest;
        }
        path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    }
}

std::size_t available_cpus()
{
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    // The call fails where there are more processors than the set has room for.
    const std::size_t by_mask = sched_getaffinity(0, sizeof allowed, &allowed) == 0
                                    ? static_cast<std::size_t>(CPU_COUNT(&allowed))
                                    : std::thread::hardware_concurrency();
    const std::size_t by_quota = cpus_of_quota(content_of("/proc/self/cgroup"), "/sys/fs/cgroup");
    return std::max<std::size_t>(by_quota == 0 ? by_mask : std::min(by_mask, by_quota), 1);
}

} // namespace flux
