#include "flux/waiter.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace flux {

void thread_waiter::wait() noexcept
{
    std::uint32_t expected = nobody;
    if (state_.compare_exchange_strong(expected, asleep, std::memory_order_acquire)) {
        do {
            // Comes back at once if it is not asleep any more, and by any signal.
            syscall(SYS_futex, &state_, FUTEX_WAIT_PRIVATE, asleep, nullptr, nullptr, 0);
        } while (state_.load(std::memory_order_acquire) != woken);
    }
    state_.store(nobody, std::memory_order_relaxed);
}

void thread_waiter::wake() noexcept
{
    // After the exchange the other may be gone, and this object with it: the kernel takes the address for a number.
    std::atomic<std::uint32_t> *const address = &state_;
    if (state_.exchange(woken, std::memory_order_release) == asleep) {
        syscall(SYS_futex, address, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }
}

} // namespace flux
