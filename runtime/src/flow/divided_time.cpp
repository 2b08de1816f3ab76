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

void divided_time::add(const divided_time &more) noexcept
{
    for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
        of[kind] += more.of[kind];
    }
    for (std::size_t reason = 0; reason < park_reason_count; ++reason) {
        parked_for[reason] += more.parked_for[reason];
    }
}

std::chrono::nanoseconds divided_time::whole() const noexcept
{
    return std::accumulate(of.begin(), of.end(), std::chrono::nanoseconds(0));
}

} // namespace flux
