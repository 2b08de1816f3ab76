#include "flux/processor_use.hpp"

#include <sys/resource.h>
#include <time.h>

namespace flux {

namespace {

processor_use read(clockid_t clock, int of) noexcept
{
    timespec time = {};
    clock_gettime(clock, &time);
    rusage use = {};
    getrusage(of, &use);
    return {std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec), use.ru_nvcsw};
}

} // namespace

processor_use processor_use::of_thread() noexcept
{
    return read(CLOCK_THREAD_CPUTIME_ID, RUSAGE_THREAD);
}

processor_use processor_use::of_process() noexcept
{
    return read(CLOCK_PROCESS_CPUTIME_ID, RUSAGE_SELF);
}

} // namespace flux
