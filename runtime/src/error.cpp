#include "flux/error.hpp"

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
    default:
        return nullptr;
    }
}

std::string describe_error(int error)
{
    if (const char *name = error_name(error)) {
        return name;
    }
    const char *as_errno = error > 0 ? strerrordesc_np(error) : nullptr;
    const std::string number = "error " + std::to_string(error);
    return as_errno == nullptr ? number : number + " (" + as_errno + ")";
}

} // namespace flux
