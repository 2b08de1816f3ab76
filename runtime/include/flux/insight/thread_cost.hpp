/// \file
/// What a thread takes for itself that runs a flow: to make it, to begin it, and to end it.
#pragma once

#include <chrono>

namespace flux {

/// For a thread each, with a stack that is kept, by a few tries; 0 where that is not known.
struct thread_cost {
    /// On one processor.
    std::chrono::nanoseconds alone{0};
    /// Where another processor makes and ends threads of the same process at that time. That takes longer, as they
    /// change the same memory of the kernel, and what one makes ends on the other. 0 with one processor.
    std::chrono::nanoseconds beside{0};

    /// Tries it with some dozens of threads, for a few milliseconds. What the kernel does to end a thread no clock of
    /// that thread says: so what the whole process has had is read, and what those threads have had that were there
    /// before is taken off. Where one of those has ended meanwhile, nothing is known.
    static thread_cost measured() noexcept;
};

} // namespace flux
