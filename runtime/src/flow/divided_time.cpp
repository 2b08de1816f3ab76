#include "flux/flow/divided_time.hpp"

#include <numeric>

namespace flux {

const char *time_kind_name(time_kind of) noexcept
{
    switch (of) {
    case time_kind::ran:
        return "ran";
    case time_kind::parked:
        return "parked";
    case time_kind::waited:
        return "waited";
    case time_kind::queued:
        return "queued";
    case time_kind::branched:
        return "branched";
    }
    return "";
}

std::chrono::nanoseconds divided_time::whole() const noexcept
{
    return std::accumulate(of.begin(), of.end(), std::chrono::nanoseconds(0));
}

} // namespace flux
