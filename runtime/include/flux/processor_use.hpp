/// \file
/// What a thread, or the whole process, has had of the processors.
#pragma once

#include <chrono>

namespace flux {

struct processor_use {
    /// How long it had one.
    std::chrono::nanoseconds time{0};
    /// How often it slept in the kernel.
    long sleeps = 0;

    /// Of the thread that asks. It takes about half a microsecond.
    static processor_use of_thread() noexcept;
    /// Of all threads of the process, also those that have ended.
    static processor_use of_process() noexcept;
};

} // namespace flux
