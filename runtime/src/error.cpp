#include "flux/error.hpp"

#include <cstdio>
#include <cstring>

namespace flux {

const char *error_name(int error) noexcept
{
    switch (error) {
    case no_match:
        return "no_match";
    case exception_thrown:
        return "exception_thrown";
    case out_of_memory:
        return "out_of_memory";
    case failed_without_code:
        return "failed_without_code";
    case end_of_input:
        return "end_of_input";
    case overflow:
        return "overflow";
    case division_by_zero:
        return "division_by_zero";
    case no_element:
        return "no_element";
    case not_a_number:
        return "not_a_number";
    case too_large:
        return "too_large";
    case no_message:
        return "no_message";
    default:
        return nullptr;
    }
}

error_description::error_description(int error) noexcept
{
    const char *const name = error_name(error);
    const char *const as_errno = error > 0 ? strerrordesc_np(error) : nullptr;
    if (name != nullptr) {
        std::snprintf(text_, sizeof text_, "%s", name);
    } else if (as_errno != nullptr) {
        std::snprintf(text_, sizeof text_, "error %d (%s)", error, as_errno);
    } else {
        std::snprintf(text_, sizeof text_, "error %d", error);
    }
}

} // namespace flux
